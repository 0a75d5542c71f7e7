package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// arguments are a request's arguments by name. Values are passed to Postgres unparsed.
type arguments struct {
	names []string // sorted, each once
	// body is JSON, or for plain text the text. Nil for GET.
	body  []byte
	array bool              // body is an array; its first object is used
	text  bool              // body is plain text
	query map[string]string // GET only
}

var invalidBody = fault{status: http.StatusBadRequest, code: "PGRST102", message: "Empty or invalid json"}

func readArguments(w http.ResponseWriter, r *http.Request, to target) (arguments, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return arguments{}, fault{status: http.StatusBadRequest, code: "PGRST100", message: "The query string could not be parsed"}
	}
	if to.read {
		return queryArguments(query)
	}
	if len(query) > 0 {
		return arguments{}, notSupported("A query string on POST")
	}
	kind := mediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "", "application/json", "text/plain":
	default:
		return arguments{}, fault{status: http.StatusBadRequest, code: "PGRST102", message: "Content-Type not acceptable: " + kind}
	}
	body, err := readBody(w, r)
	if err != nil {
		return arguments{}, err
	}
	if kind == "text/plain" {
		return arguments{body: body, text: true}, nil
	}
	return scanBody(body)
}

// queryArguments uses the last of repeated names.
func queryArguments(query url.Values) (arguments, error) {
	args := arguments{query: make(map[string]string, len(query))}
	for name, values := range query {
		switch {
		case slices.Contains([]string{"select", "order", "limit", "offset", "and", "or", "not.and", "not.or", "columns", "on_conflict"}, name):
			return arguments{}, notSupported("The query parameter " + name)
		case strings.ContainsRune(name, 0) || !utf8.ValidString(name):
			return arguments{}, fault{status: http.StatusBadRequest, code: "PGRST100", message: "The query string could not be parsed"}
		}
		args.names = append(args.names, name)
		args.query[name] = values[len(values)-1]
	}
	slices.Sort(args.names)
	return args, nil
}

func notSupported(what string) fault {
	return fault{status: http.StatusBadRequest, code: "PGRST100", message: what + " is not supported",
		details: "This is a development gateway; PostgREST itself may know it."}
}

// readBody reads up to MaxBody bytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if exceeded := new(http.MaxBytesError); errors.As(err, &exceeded) {
		return nil, fault{status: http.StatusRequestEntityTooLarge, code: "PGRST102", message: fmt.Sprintf("The body is larger than %d bytes", MaxBody)}
	}
	if err != nil {
		return nil, fault{status: http.StatusBadRequest, code: "PGRST102", message: "The body could not be read"}
	}
	return body, nil
}

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
		var object map[string]json.RawMessage
		err := json.Unmarshal(body, &object)
		return arguments{names: slices.Sorted(maps.Keys(object)), body: body}, err
	case '[':
		return scanArray(body)
	}
	return arguments{body: []byte("[]"), array: true}, nil
}

// scanArray accepts an array of objects, of which the first is used.
func scanArray(body []byte) (arguments, error) {
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(body, &items); err != nil || slices.ContainsFunc(items, func(item map[string]json.RawMessage) bool { return item == nil }) {
		return arguments{}, invalidBody
	}
	args := arguments{body: body, array: true}
	if len(items) > 0 {
		args.names = slices.Sorted(maps.Keys(items[0]))
	}
	return args, nil
}
