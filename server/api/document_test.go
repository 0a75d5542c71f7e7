package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

type document struct {
	*openapi3.T
	router routers.Router
}

// openDocument reads the served document and validates it, with its examples.
var openDocument = sync.OnceValues(func() (document, error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return document{}, err
	}
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`))
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return document{}, err
	}
	router, err := legacy.NewRouter(doc)
	return document{doc, router}, err
})

func theDocument(t testing.TB) document {
	t.Helper()
	doc, err := openDocument()
	if err != nil {
		t.Fatalf("openapi.yaml: %v", err)
	}
	return doc
}

// margins matches white space around a text.
var margins = regexp.MustCompile(`"(?:\pZ|\\[nrt]|\\u(?:00a0|2003|3000))+|(?:\pZ|\\[nrt]|\\u(?:00a0|2003|3000))+"`)

// checkRequest validates a request against the document, except for the path's existence.
func (d document) checkRequest(route *routers.Route, request *http.Request, body string) error {
	copied := request.Clone(context.Background())
	// Lengths apply after trimming, which a schema cannot express.
	copied.Body = io.NopCloser(strings.NewReader(margins.ReplaceAllString(body, `"`)))
	copied.GetBody = nil
	input := d.input(route, copied)
	_, input.PathParams, _ = d.find(request)
	return openapi3filter.ValidateRequest(context.Background(), input)
}

func (d document) input(route *routers.Route, request *http.Request) *openapi3filter.RequestValidationInput {
	return &openapi3filter.RequestValidationInput{Request: request, Route: route, Options: &openapi3filter.Options{
		IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	}}
}

// route returns the document's route for a request, or nil if the document has no such path or
// method.
func (d document) route(request *http.Request) *routers.Route {
	route, _, err := d.find(request)
	if err != nil {
		return nil
	}
	return route
}

func (d document) find(request *http.Request) (*routers.Route, map[string]string, error) {
	// The router compares paths case-sensitively; the service does not.
	copied := *request
	copied.URL = &url.URL{Path: request.URL.EscapedPath()}
	return d.router.FindRoute(&copied)
}

// checkDocumented validates a response, and the request of a successful one, against the OpenAPI
// document.
func (r *response) checkDocumented(request *http.Request, body string) {
	r.t.Helper()
	doc, err := openDocument()
	if err != nil {
		r.t.Errorf("openapi.yaml: %v", err)
		return
	}
	route := doc.route(request)
	if route == nil {
		if r.status != http.StatusNotFound && r.status != http.StatusMethodNotAllowed && request.Method != http.MethodHead && request.Method != http.MethodOptions {
			r.t.Errorf("%s %s: answered %d, but is not in openapi.yaml", request.Method, request.URL.Path, r.status)
		}
		return
	}
	if r.status == http.StatusOK && request.Method == http.MethodPost {
		if err := doc.checkRequest(route, request, body); err != nil {
			r.t.Errorf("%s %s: was answered well, but openapi.yaml refuses it: %v", request.Method, request.URL.Path, err)
		}
	}
	if r.header.Get("Content-Type") == "text/event-stream" {
		checkEvents(r.t, r.text)
		return
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: doc.input(route, request), Status: r.status, Header: r.header,
		Body: io.NopCloser(bytes.NewReader([]byte(r.text))), Options: doc.input(route, request).Options,
	})
	if err != nil {
		r.t.Errorf("%s %s: %d is not what openapi.yaml says: %v\n%s", request.Method, request.URL.Path, r.status, err, r.text)
	}
}

// problem decodes the body of an error response.
type problem struct {
	Type      string
	Title     string
	Status    int
	Code      string
	Detail    string
	RequestID string `json:"request_id"`
	Errors    []struct{ Field, Message string }
}

// inner matches what clients must not see: stack traces, SQL, database-internal names, upstream
// addresses, keys and response bodies.
var inner = regexp.MustCompile(`(?i)goroutine|panic|\.go\b|\bselect\b|\binsert\b|\bupdate\b|relation|schema cache|pgrst|sqlstate|postgrest|` +
	`postgres|constraint|127\.0\.0\.1|localhost|dial|tcp|eyJ|sk-|bearer [a-z0-9]{8}|` + upstreamText)

// checkProblem checks what all error responses have in common.
func (r *response) checkProblem(path string) {
	r.t.Helper()
	if r.status < 400 || path == "/readyz" && r.status == http.StatusServiceUnavailable {
		return
	}
	if found := inner.FindString(r.text); found != "" {
		r.t.Errorf("%s: the answer tells %q: %s", path, found, r.text)
	}
	if kind := r.header.Get("Content-Type"); kind != "application/problem+json" {
		r.t.Errorf("%s: Content-Type of a problem is %q", path, kind)
	}
	p := r.problem()
	if p.Type != "about:blank" || p.Title != http.StatusText(r.status) || p.Status != r.status || p.Detail == "" {
		r.t.Errorf("%s: problem is %s", path, r.text)
	}
	checkCode(r.t, r.status, p.Code)
	if p.RequestID != r.header.Get("X-Request-Id") {
		r.t.Errorf("%s: request_id is %q, X-Request-Id %q", path, p.RequestID, r.header.Get("X-Request-Id"))
	}
}

func (r *response) problem() (p problem) {
	r.t.Helper()
	decoder := json.NewDecoder(strings.NewReader(r.text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		r.t.Errorf("not a problem: %v: %s", err, r.text)
	}
	return p
}
