package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
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

// readBody reads up to MaxBody bytes within the request's time limit.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	tooLarge := fault{status: http.StatusRequestEntityTooLarge, code: "PGRST102",
		message: "The body is larger than " + strconv.Itoa(MaxBody) + " bytes"}
	if r.ContentLength > MaxBody {
		return nil, tooLarge
	}
	control := http.NewResponseController(w)
	// Not every writer supports deadlines; those of sockets do.
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(http.MaxBytesReader(w, io.NopCloser(r.Body), MaxBody)); err != nil {
		var exceeded *http.MaxBytesError
		if errors.As(err, &exceeded) {
			return nil, tooLarge
		}
		return nil, fault{status: http.StatusBadRequest, code: "PGRST102", message: "The body could not be read"}
	}
	return body.Bytes(), nil
}
