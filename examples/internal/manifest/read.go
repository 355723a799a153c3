package manifest

import (
	"errors"
	"io"
	"os"
	"strings"
)

// stdin is the name of standard input in positions.
const stdin = "stdin"

// Files collects the values of a flag that may be repeated; it implements flag.Value.
type Files []string

// String is the files with commas between them.
func (f *Files) String() string { return strings.Join(*f, ",") }

// Set adds a file.
func (f *Files) Set(file string) error {
	if file == "" {
		return errors.New("empty file name, want a path or - for standard input")
	}
	*f = append(*f, file)
	return nil
}

// Read reads files as the zero [Reader] does.
func Read(standardInput io.Reader, files ...string) ([]Object, error) {
	return Reader{}.Read(standardInput, files...)
}

// Read returns the objects of the files, in the order of the files and of the documents in them. The
// file "-" is standard input, which may be given once. The first file that cannot be read, or document
// that is no object, ends it with an error of one line that names the file and the place; no objects
// are returned then.
func (r Reader) Read(standardInput io.Reader, files ...string) ([]Object, error) {
	if len(files) == 0 {
		return nil, errors.New("no file given, want at least one (- for standard input)")
	}
	var all []Object
	inputRead := false
	for _, file := range files {
		objects, err := []Object(nil), error(nil)
		switch {
		case file != "-":
			objects, err = r.readFile(file)
		case inputRead:
			err = errors.New("- given twice: standard input can be read only once")
		default:
			inputRead = true
			objects, err = r.Decode(stdin, standardInput)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

func (r Reader) readFile(file string) ([]Object, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return r.decode(file, data)
}
