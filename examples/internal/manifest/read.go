// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// stdin is the name of standard input in positions.
const stdin = "stdin"

// Files collects the values of a flag that may be repeated; it implements flag.Value.
type Files []string

// String joins the files by commas.
func (f *Files) String() string { return strings.Join(*f, ",") }

// Set adds a file.
func (f *Files) Set(file string) error {
	if file == "" {
		return errors.New("empty file name: must be a path or - for standard input")
	}
	*f = append(*f, file)
	return nil
}

// Read is Read of the zero [Reader].
func Read(standardInput io.Reader, files ...string) ([]Object, error) {
	return Reader{}.Read(standardInput, files...)
}

// Read returns the objects of the files, in the order of the files and of their documents. A directory means the files
// below it whose names end in .yaml, .yml, .json, .jsonl or .ndjson, in letters of either case, and perhaps in .gz behind that. The file "-" is standard input, which may be given once. Read stops at
// the first file that cannot be read, and at the first document that is not an object, with an error of one line with the
// file and the position; then it returns no objects.
func (r Reader) Read(standardInput io.Reader, files ...string) ([]Object, error) {
	if len(files) == 0 {
		return nil, errors.New("no file given: must have at least one -f FILE (- for standard input)")
	}
	if i := slices.Index(files, "-"); i >= 0 && slices.Contains(files[i+1:], "-") {
		return nil, errors.New("- given twice: standard input can be read only once")
	}
	for i, file := range files {
		if slices.Contains(files[i+1:], file) {
			return nil, fmt.Errorf("%s given twice: each file must be given once", file)
		}
	}
	for _, file := range files { // the size of the others is unknown before they are read
		if info, err := os.Stat(file); file != "-" && err == nil && !info.IsDir() {
			r.Progress.expect(info.Size())
		}
	}
	var all []Object
	for _, file := range files {
		read := r.readFile
		if file == "-" {
			read = func(string) ([]Object, error) { return r.readInput(standardInput) }
		}
		objects, err := read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

func (r Reader) readFile(file string) ([]Object, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return r.readDirectory(file)
	}
	data, err := os.ReadFile(file)
	switch dir, dirErr := os.Getwd(); {
	case errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(file) && dirErr == nil:
		return nil, fmt.Errorf("%w: the path is taken from %s", err, dir) // go run -C changes it
	case err != nil:
		return nil, err
	}
	return r.decodeAny(file, data)
}

// readDirectory reads the YAML and JSON files in and below a directory, in the order of their paths. If equal objects are
// in several files, as must-gather writes them, they count once. A file without any content has none.
func (r Reader) readDirectory(dir string) (all []Object, err error) {
	there := make(map[string]Object)
	found := false
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !holdsObjects(path) {
			if r.Skipped != nil && isPacked(path) {
				*r.Skipped = append(*r.Skipped, path)
			}
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found = true
		if len(bytes.TrimSpace(data)) == 0 {
			return nil
		}
		r.Progress.expect(int64(len(data)))
		objects, err := r.decodeAny(path, data)
		for _, o := range objects {
			name := o.GetAPIVersion() + " " + o.String()
			if before, again := there[name]; !again || !reflect.DeepEqual(before.Object, o.Object) {
				there[name], all = o, append(all, o)
			}
		}
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: must have files whose names end in .yaml, .yml, .json, .jsonl or .ndjson, perhaps with .gz behind that", dir)
	}
	return all, err
}

// holdsObjects says whether a file of a directory is read, by its name.
func holdsObjects(path string) bool {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	return slices.Contains([]string{".yaml", ".yml", ".json", ".jsonl", ".ndjson"}, filepath.Ext(name))
}

// isPacked says whether a file may have others in it, or one that is read if it is unpacked. Logs are none, which each dump has.
func isPacked(path string) bool {
	name := strings.ToLower(path)
	return slices.Contains([]string{".gz", ".tgz", ".tar", ".zip", ".bz2", ".xz", ".zst", ".7z"}, filepath.Ext(name)) && !strings.Contains(filepath.Base(name), ".log")
}

func (r Reader) readInput(standardInput io.Reader) ([]Object, error) {
	data, err := io.ReadAll(standardInput)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", stdin, err)
	}
	r.Progress.expect(int64(len(data)))
	return r.decodeAny(stdin, data)
}

// decodeAny refuses an empty file, which a shell leaves behind a failed command.
func (r Reader) decodeAny(file string, data []byte) ([]Object, error) {
	defer r.Progress.passed(len(data))()
	data, err := toText(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is empty", file)
	}
	return r.decode(file, data)
}
