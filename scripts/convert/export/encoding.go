package export

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// Decode returns the text of a file in UTF-8, without the byte order mark that Windows programs
// write. What is not valid in an encoding that the mark names becomes what CheckText refuses.
func Decode(file io.Reader) io.Reader {
	in := bufio.NewReader(file)
	head, _ := in.Peek(4)
	var wide encoding.Encoding
	switch {
	case bytes.Equal(head, []byte("\xff\xfe\x00\x00")), bytes.Equal(head, []byte("\x00\x00\xfe\xff")): // first, since it begins like UTF-16
		wide = utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		wide = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	default:
		return transform.NewReader(in, unicode.BOMOverride(transform.Nop))
	}
	refuse := runes.Map(func(r rune) rune {
		if r == utf8.RuneError {
			return noCharacter
		}
		return r
	})
	return transform.NewReader(in, transform.Chain(wide.NewDecoder(), refuse))
}

// noCharacter is no character in any text.
const noCharacter = '\uFFFF'

var (
	errNUL     = errors.New("it has NUL bytes, as UTF-16 without a byte order mark has: save the file as UTF-8")
	errNotUTF8 = errors.New("it is not valid in UTF-8, or in the encoding that the file's byte order mark names: save the file as UTF-8")
)

// CheckText returns what is wrong with a text of a file: it would be stored as another one.
func CheckText[T string | []byte](text T) error {
	switch s := string(text); {
	case strings.Contains(s, "\x00"):
		return errNUL
	case !utf8.ValidString(s), strings.ContainsRune(s, noCharacter):
		return errNotUTF8
	}
	return nil
}
