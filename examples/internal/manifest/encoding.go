// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// byteOrderMark may begin each of several files that a shell joined.
const byteOrderMark = "\ufeff"

// toText converts a file to UTF-8 without byte order marks, with lines that end by \n. Windows PowerShell writes UTF-16 and
// Windows' line ends. That changes no content: YAML reads each line end as \n, and JSON has line ends only between tokens.
func toText(data []byte) ([]byte, error) {
	if from := utf16(data); from != nil {
		if len(data)%2 != 0 {
			return nil, errors.New("UTF-16 of an odd number of bytes: the file is cut off")
		}
		var err error
		if data, err = from.NewDecoder().Bytes(data); err != nil {
			return nil, err
		}
	}
	if bytes.Contains(data, []byte(byteOrderMark)) {
		data = bytes.TrimPrefix(data, []byte(byteOrderMark))
		data = bytes.ReplaceAll(data, []byte("\n"+byteOrderMark), []byte("\n"))
	}
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	}
	return data, nil
}

// utf16 is the encoding of a text in UTF-16; nil for others. Such a text begins with a byte order mark, or with an ASCII
// character, as all YAML and JSON without a mark does.
func utf16(data []byte) encoding.Encoding {
	if len(data) < 2 {
		return nil
	}
	switch first, second := data[0], data[1]; {
	case first == 0xff && second == 0xfe, first != 0 && second == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case first == 0xfe && second == 0xff, first == 0 && second != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}
