package ticketfile

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
	"golang.org/x/text/transform"
)

// marked are the encodings whose byte order mark is obeyed, and the mark: of UTF-32 first, since
// its mark begins like that of UTF-16.
var marked = []struct {
	mark string
	encoding.Encoding
}{
	{"\xff\xfe\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)}, {"\x00\x00\xfe\xff", utf32.UTF32(utf32.BigEndian, utf32.UseBOM)},
	{"\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}, {"\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
}

// Decode returns the text of a file in UTF-8, without the byte order mark that Windows programs
// write. What its encoding does not allow becomes a byte that CheckText refuses.
func Decode(file io.Reader) io.Reader {
	in := bufio.NewReader(file)
	head, _ := in.Peek(4)
	for _, e := range marked {
		if bytes.HasPrefix(head, []byte(e.mark)) {
			return transform.NewReader(in, transform.Chain(e.NewDecoder(), strict{}))
		}
	}
	if bytes.HasPrefix(head, []byte("\uFEFF")) {
		_, _ = in.Discard(len("\uFEFF")) // cannot fail: these bytes are in the buffer
	}
	return in
}

var (
	errNUL     = errors.New("it has NUL bytes, as UTF-16 without a byte order mark has: save the file as UTF-8")
	errNotUTF8 = errors.New("it is not valid in UTF-8, or in the encoding that the file's byte order mark names: save the file as UTF-8")
)

// CheckText returns what is wrong with a text of a file: it would be stored as another one.
func CheckText[T string | []byte](text T) error {
	switch s := string(text); {
	case strings.Contains(s, "\x00"):
		return errNUL
	case !utf8.ValidString(s):
		return errNotUTF8
	}
	return nil
}

// strict undoes that decoders replace what is not valid by U+FFFD.
type strict struct{ transform.NopResetter }

func (strict) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	const replaced = "\uFFFD"
	for ; nSrc < len(src); nDst, nSrc = nDst+1, nSrc+1 {
		switch left := src[nSrc:]; {
		case nDst == len(dst):
			return nDst, nSrc, transform.ErrShortDst
		case left[0] == replaced[0] && len(left) < len(replaced) && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		case bytes.HasPrefix(left, []byte(replaced)):
			dst[nDst], nSrc = 0xff, nSrc+len(replaced)-1
		default:
			dst[nDst] = left[0]
		}
	}
	return nDst, nSrc, nil
}
