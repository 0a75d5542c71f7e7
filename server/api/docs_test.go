package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// The page is complete: the service serves everything that it references, and the policy allows no
// other origin.
func TestDocs(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := s.get("/docs").want(http.StatusOK)
	if kind := page.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
		t.Errorf("the page is %s", kind)
	}
	policy := page.header.Get("Content-Security-Policy")
	for _, directive := range strings.Split(policy, "; ") {
		name, sources, _ := strings.Cut(directive, " ")
		for _, source := range strings.Fields(sources) {
			if source != "'self'" && source != "'none'" && source != "data:" && (source != "'unsafe-inline'" || name != "style-src") {
				t.Errorf("the page may use %s for %s", source, name)
			}
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") {
		t.Errorf("the policy is %q", policy)
	}
	parts := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page.text, -1)
	if len(parts) != 6 {
		t.Errorf("the page names %q", parts)
	}
	for _, part := range parts {
		if part[1] != "data:," {
			s.get(path.Join("/", part[1])).want(http.StatusOK)
		}
	}
	if script := s.get("/docs/start.js").text; !strings.Contains(script, `url: "openapi.yaml"`) {
		t.Errorf("the script is %s", script)
	}
	for _, path := range []string{"/docs/README.md", "/docs/LICENSE", "/docs/..%2Fopenapi.yaml", "/docs/index", "/docs/NOTICE"} {
		s.get(path).want(http.StatusNotFound)
	}
	if end := s.get("/docs/"); end.text != page.text {
		t.Error("the page differs with a slash at its end")
	}
}

// The YAML and JSON forms are the same document, and both support conditional requests.
func TestDescriptionForms(t *testing.T) {
	t.Parallel()
	s := start(t)
	var told [2]any
	for i, path := range []string{"/openapi.yaml", "/openapi.json"} {
		r := s.get(path).want(http.StatusOK)
		doc, err := openapi3.NewLoader().LoadFromData([]byte(r.text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		text, err := doc.MarshalJSON()
		if err := errors.Join(err, json.Unmarshal(text, &told[i])); err != nil {
			t.Fatal(err)
		}
		if again := s.get(path, "If-None-Match", r.header.Get("ETag")).want(http.StatusNotModified); again.text != "" {
			t.Errorf("%s is sent again", path)
		}
		s.get(path, "If-None-Match", `"another"`).want(http.StatusOK)
	}
	if !reflect.DeepEqual(told[0], told[1]) {
		t.Error("/openapi.json differs from /openapi.yaml")
	}
	if kind := s.get("/openapi.json").header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("/openapi.json is %s", kind)
	}
}

// Vendored files are unmodified, compressed or not.
func TestDocsAreAsPublished(t *testing.T) {
	t.Parallel()
	s := start(t)
	told, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"swagger-ui.css", "swagger-ui-bundle.js"} {
		packed := s.get("/docs/" + file) // the client requests gzip and decompresses
		plain := s.get("/docs/"+file, "Accept-Encoding", "identity")
		for _, r := range []*response{packed, plain} {
			sum := sha256.Sum256([]byte(r.text))
			if !strings.Contains(string(told), "| `"+file+"` | `"+hex.EncodeToString(sum[:])+"` |") {
				t.Errorf("%s has the sum %x", file, sum)
			}
		}
		if plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %v", file, plain.header)
		}
	}
}
