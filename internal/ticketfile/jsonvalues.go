package ticketfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// jsonValues splits a stream of objects, in arrays or concatenated, into the objects. It holds a
// single object of limited size and skips longer ones; a json.Decoder has no limit.
type jsonValues struct {
	from  *bufio.Reader
	max   int  // maximum object size in bytes: MaxRow, less in tests
	line  int  // line feeds read
	start int  // the line on which the last object starts
	open  int  // open arrays
	some  bool // anything but white space was read
	buf   []byte
}

var errCutJSON = fmt.Errorf("the file ends within a value: %w", io.ErrUnexpectedEOF)

// next returns the next object, valid until the following call. errTooLong concerns only that
// object; io.EOF is the end; any other error is final.
func (v *jsonValues) next() ([]byte, error) {
	for {
		b, err := v.read()
		if err == io.EOF && v.open > 0 {
			return nil, errCutJSON
		}
		if err != nil {
			return nil, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', ',':
		case '[':
			v.open, v.some = v.open+1, true
		case ']':
			if v.open--; v.open < 0 {
				return nil, fmt.Errorf("on line %d a ] closes nothing", v.line+1)
			}
		case '{':
			v.start = v.line + 1
			return v.object()
		default:
			return nil, fmt.Errorf("on line %d there is %q where an object should start", v.line+1, string(rune(b)))
		}
	}
}

// object reads the rest of an object after its opening brace.
func (v *jsonValues) object() ([]byte, error) {
	v.buf = append(v.buf[:0], '{')
	depth, size, quoted, escaped := 1, 1, false, false
	for depth > 0 {
		b, err := v.read()
		if err == io.EOF {
			return nil, errCutJSON
		}
		if err != nil {
			return nil, err
		}
		if size++; size <= v.max {
			v.buf = append(v.buf, b)
		}
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
	}
	if size > v.max {
		return nil, errTooLong
	}
	return v.buf, nil
}

func (v *jsonValues) read() (byte, error) {
	b, err := v.from.ReadByte()
	if err == nil && b == '\n' {
		v.line++
	}
	return b, err
}

var errNoIssues = errors.New("this is not an export of GitHub issues: its first object lacks number or title (gh issue list --json number,title,url,…); to import JSON Lines, pass their folder")
