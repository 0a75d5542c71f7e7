package api

import (
	"bytes"
	_ "embed"
	"flag"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"tasklens/internal/fault"
	"tasklens/scripts/lab/describe"
	"tasklens/server/console"
)

//go:embed operations.md
var operationTexts string

var update = flag.Bool("update", false, "rewrite openapi.yaml")

// openapi.yaml says what the table of routes, the structs and operations.md say.
func TestDocumentIsGenerated(t *testing.T) {
	t.Parallel()
	document, err := describe.Document(described(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.yaml", document, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(document, documentYAML) {
		t.Error("openapi.yaml is not what the code says: go test ./server/api -run DocumentIsGenerated -update")
	}
}

// described is the API for its document, with the codes of all reasons that internal/fault has.
func described(t *testing.T) describe.API {
	t.Helper()
	described := describe.API{
		Texts: operationTexts, Problem: reflect.TypeFor[problemBody](), Nothing: reflect.TypeFor[nothing](), Elements: maxElements,
		Tags: describe.Tags{Fields: bodyFields, Name: nameOf, IsRequired: isRequired, Elements: elementTags},
	}
	for _, r := range (&API{Parts: Parts{MetricsHere: true, Console: &console.Console{}}}).table() {
		operation := describe.Operation{
			ID: r.id, Tag: r.tag, Summary: r.summary, Method: r.method, Path: r.path, Open: r.needs == open, Also: r.also, Cached: slices.Contains(r.also, cached),
			Takes: r.takes, Gives: r.gives, Errs: r.errs, Media: r.media,
		}
		for _, event := range r.events {
			operation.Events = append(operation.Events, describe.Event{Name: event.name, Data: event.data})
		}
		described.Operations = append(described.Operations, operation)
	}
	for _, f := range failures {
		described.Failures = append(described.Failures, describe.Failure{Status: f.status, Shown: shown(f)})
		described.Codes = append(described.Codes, f.code)
	}
	reasons, err := os.ReadFile("../../internal/fault/fault.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range regexp.MustCompile(` Reason = "(\w+)"`).FindAllStringSubmatch(string(reasons), -1) {
		described.Codes = append(described.Codes, reason[1])
	}
	return described
}

// shown is an example of a problem.
func shown(f failure) problemBody {
	body := problemBody{Type: "about:blank", Title: http.StatusText(f.status), Status: f.status, Code: f.code, Detail: f.detail, RequestID: "1f7a0f5e-3f0e-4b58-8f68-3d2f0a5d9a52"}
	if f.status == http.StatusBadRequest {
		body.Errors = []fault.Field{{Name: "limit", Message: "must be an integer from 1 to 100"}, {Name: "quary", Message: "is not a field of this request"}}
	}
	return body
}
