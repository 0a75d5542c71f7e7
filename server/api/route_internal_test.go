package api

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"tasklens/server/console"
)

// whoMay is how docs/access.md describes a route's requirement of its caller.
var whoMay = map[access]string{
	open: "anyone, without a token", signedIn: "every user; RLS decides what they see", asViewer: "viewers of any project",
	projectMember: "members of that project", asAdmin: "admins of any project",
}

// The table of requests in docs/access.md names every route once, with the requirement that the
// code has. In the OpenAPI document open routes need no token, either.
func TestTheTableOfCallers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| request | who may make it")
	if !found {
		t.Fatal("docs/access.md has no table of requests")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	doc := readDocument(t)
	said := map[string]string{}
	for _, row := range strings.Split(table, "\n")[2:] {
		columns := strings.Split(row, "|")
		for _, request := range regexp.MustCompile("`([A-Z]+ /[^`]*)`").FindAllStringSubmatch(columns[1], -1) {
			if said[request[1]] != "" {
				t.Errorf("%s stands there twice", request[1])
			}
			said[request[1]] = strings.TrimSpace(columns[2])
		}
	}
	for _, r := range (&API{Parts: Parts{MetricsHere: true, Console: &console.Console{}}}).table() {
		name := r.method + " " + documented(r.path)
		if said[name] != whoMay[r.needs] {
			t.Errorf("docs/access.md says of %s: %q, the code %q", name, said[name], whoMay[r.needs])
		}
		delete(said, name)
		security := doc.Paths.Value(documented(r.path)).GetOperation(r.method).Security
		if isOpen := security != nil && len(*security) == 0; isOpen != (r.needs == open) {
			t.Errorf("openapi.yaml says of %s that it is open: %t", name, isOpen)
		}
	}
	for name := range said {
		t.Errorf("docs/access.md lists %s, which is no route", name)
	}
}

// Every operation has a description and an example of its body. Pages that show the document
// compose those of responses.
func TestOperationsAreDescribed(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Summary == "" || operation.Description == "" {
				t.Errorf("%s %s has no summary or no description", method, path)
			}
			if body := operation.RequestBody; body != nil {
				if media := body.Value.Content.Get("application/json"); len(media.Examples) == 0 && media.Schema.Value.Example == nil {
					t.Errorf("%s %s has no example of its request", method, path)
				}
			}
		}
	}
}

func readDocument(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(documentYAML)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// documented returns a path as the documents write it.
func documented(path string) string {
	return regexp.MustCompile(`:(\w+)`).ReplaceAllString(path, "{$1}")
}
