package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// scanBody finds the argument names in a JSON body and the end of each value. It does not validate
// values: Postgres parses them anyway, and decoding megabytes of vectors twice would cost more than
// the call. Invalid JSON may pass; arguments.valid is checked before another error is reported.
func scanBody(body []byte) (arguments, error) {
	// Postgres texts cannot contain NUL, and its message for bad UTF-8 differs.
	if bytes.IndexByte(body, 0) >= 0 || !utf8.Valid(body) {
		return arguments{}, invalidBody
	}
	if len(body) == 0 {
		body = []byte("{}")
	}
	start := space(body, 0)
	if start == len(body) {
		return arguments{}, invalidBody
	}
	switch body[start] {
	case '{':
		names, end, ok := object(body, start)
		if !ok || space(body, end) != len(body) {
			return arguments{}, invalidBody
		}
		return arguments{names: names, body: body}, nil
	case '[':
		return scanArray(body, start)
	}
	if !json.Valid(body) {
		return arguments{}, invalidBody
	}
	return arguments{body: []byte("[]"), array: true}, nil
}

// scanArray accepts an array of objects with the same names, as PostgREST requires, although only
// the first is used.
func scanArray(body []byte, start int) (arguments, error) {
	if !json.Valid(body) {
		return arguments{}, invalidBody
	}
	unequal := fault{status: 400, code: "PGRST102", message: "All object keys must match"}
	var first []string
	i := space(body, start+1)
	for n := 0; body[i] != ']'; n++ {
		if body[i] != '{' {
			return arguments{}, unequal
		}
		names, end, ok := object(body, i)
		if !ok {
			return arguments{}, invalidBody
		}
		if n == 0 {
			first = names
		} else if !slices.Equal(first, names) {
			return arguments{}, unequal
		}
		if i = space(body, end); body[i] == ',' {
			i = space(body, i+1)
		}
	}
	return arguments{names: first, body: body, array: true}, nil
}

// object scans the object at i. It returns its names, sorted and distinct, and the offset after it.
func object(b []byte, i int) (names []string, end int, ok bool) {
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return nil, i + 1, true
	}
	for i < len(b) && b[i] == '"' {
		end := text(b, i)
		if end < 0 {
			return nil, 0, false
		}
		var name string
		if json.Unmarshal(b[i:end], &name) != nil {
			return nil, 0, false
		}
		names = append(names, name)
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return nil, 0, false
		}
		if i = value(b, space(b, i+1)); i < 0 {
			return nil, 0, false
		}
		if i = space(b, i); i >= len(b) {
			return nil, 0, false
		}
		switch b[i] {
		case '}':
			slices.Sort(names)
			return slices.Compact(names), i + 1, true
		case ',':
			i = space(b, i+1)
		default:
			return nil, 0, false
		}
	}
	return nil, 0, false
}

// value returns the offset after the value at i, or -1.
func value(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return text(b, i)
	case '{', '[':
		return nested(b, i)
	}
	start := i
	for i < len(b) && bytes.IndexByte([]byte(",]} \t\r\n"), b[i]) < 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// nested returns the offset after the object or array at i, or -1. It counts brackets without
// matching their kinds, and without recursion.
func nested(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := text(b, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// text returns the offset after the string at i, or -1.
func text(b []byte, i int) int {
	for from := i + 1; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return -1
		}
		quote := from + n
		slashes := 0
		for b[quote-1-slashes] == '\\' {
			slashes++
		}
		from = quote + 1
		if slashes%2 == 0 {
			return from
		}
	}
}

// space returns the first offset from i on that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}
