// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// byteOrderMark may begin each of several files that a shell joined.
const byteOrderMark = "\ufeff"

// toText converts a file to UTF-8 without byte order marks, with lines that end by \n. Windows PowerShell writes UTF-16 and
// Windows' line ends. That changes no content: YAML reads each line end as \n, and JSON has line ends only between tokens. A file that
// is compressed by gzip is the text in it.
func toText(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte(gzipMagic)) {
		stream, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(stream)
		}
		if err != nil {
			return nil, fmt.Errorf("compressed by gzip, and cut off or damaged: %w", err)
		}
	}
	if is := binary(data); is != "" {
		return nil, fmt.Errorf("not text but %s: must be YAML or JSON, which may be compressed by gzip", is)
	}
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

// gzipMagic is how a file that gzip compressed begins.
const gzipMagic = "\x1f\x8b"

// binary says what a file is that is no text; empty for text. Text may be in UTF-16, or have single bytes of another encoding, which the
// parser names.
func binary(data []byte) string {
	const begin, magic = 257, "ustar"
	if len(data) > begin && bytes.HasPrefix(data[begin:], []byte(magic)) {
		return "a tar archive"
	}
	kind := http.DetectContentType(data)
	switch {
	case strings.HasPrefix(kind, "text/"), utf8.Valid(data) && bytes.IndexByte(data, 0) < 0:
		return ""
	case kind != "application/octet-stream":
		return kind
	case utf16(data) != nil:
		return ""
	}
	return "binary content"
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
