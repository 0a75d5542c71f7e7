package gateway

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"unicode/utf8"
)

// scanBody finds the argument names in a JSON body. Values go to Postgres as they are.
func scanBody(body []byte) (arguments, error) {
	if len(body) == 0 {
		body = []byte("{}")
	}
	// Postgres texts cannot contain NUL, and its message for bad UTF-8 differs.
	if bytes.IndexByte(body, 0) >= 0 || !utf8.Valid(body) || !json.Valid(body) {
		return arguments{}, invalidBody
	}
	switch bytes.TrimLeft(body, " \t\r\n")[0] {
	case '{':
		names, err := namesOf(body)
		return arguments{names: names, body: body}, err
	case '[':
		return scanArray(body)
	}
	return arguments{body: []byte("[]"), array: true}, nil
}

// scanArray accepts an array of objects with the same names, as PostgREST requires, although only
// the first is used.
func scanArray(body []byte) (arguments, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(body, &items); err != nil {
		return arguments{}, invalidBody
	}
	var first []string
	for i, item := range items {
		names, err := namesOf(item)
		if i == 0 {
			first = names
		}
		if err != nil || !slices.Equal(first, names) {
			return arguments{}, fault{status: http.StatusBadRequest, code: "PGRST102", message: "All object keys must match"}
		}
	}
	return arguments{names: first, body: body, array: true}, nil
}

// namesOf returns the names of an object, sorted and distinct.
func namesOf(object []byte) ([]string, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(object, &values); err != nil || values == nil {
		return nil, invalidBody
	}
	return slices.Sorted(maps.Keys(values)), nil
}
