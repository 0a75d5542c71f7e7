package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"tasklens/server/api"
	"tasklens/server/console"
)

func consoleOf(t testing.TB, options ...console.Options) *console.Console {
	t.Helper()
	if len(options) == 0 {
		options = []console.Options{{}}
	}
	page, err := console.New(options[0])
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// The page and its parts are cached, and its policy allows no other origin.
func TestConsole(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := s.get("/").want(http.StatusOK)
	if kind := page.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
		t.Errorf("the page is %s", kind)
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "require-trusted-types-for 'script'") ||
		!strings.Contains(policy, "; connect-src 'self'; ") {
		t.Errorf("the policy is %q", policy)
	}
	if text := page.text; strings.Contains(text, "{{") || !strings.Contains(text, `{"auth":false,"supabase_url":"","publishable_key":"","ticket_url":""}`) {
		t.Errorf("the page is %s", text)
	}
	path := "/" + regexp.MustCompile(`src="(console/[^"]+)"`).FindStringSubmatch(page.text)[1]
	part := s.get(path).want(http.StatusOK)
	if cached := part.header.Get("Cache-Control"); !strings.Contains(cached, "immutable") {
		t.Errorf("%s is cached as %q", path, cached)
	}
	s.get(path, "If-None-Match", part.header.Get("ETag")).want(http.StatusNotModified)
	s.get("/", "If-None-Match", page.header.Get("ETag")).want(http.StatusNotModified)
	if plain := s.get("/", "Accept-Encoding", "identity"); plain.text != page.text ||
		plain.header.Get("Vary") != "Accept-Encoding" || plain.header.Get("Cache-Control") != "no-cache" {
		t.Errorf("unpacked: %v", plain.header)
	}
	other := s.get("/console/0/app.js").want(http.StatusOK)
	if cached := other.header.Get("Cache-Control"); cached != "no-cache" {
		t.Errorf("another version is cached as %q", cached)
	}
	for _, path := range []string{"/console/0/index.html", "/console/0/types.d.ts", "/console/0/..%2fconsole.go", "/console/0/nothing.js"} {
		s.get(path).want(http.StatusNotFound)
	}
}

func TestConsoleOff(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.more = func(parts *api.Parts) { parts.Console = nil } })
	for _, path := range []string{"/", "/console/0/app.js"} {
		s.get(path).want(http.StatusNotFound)
	}
	if page := s.get("/docs").want(http.StatusOK).text; strings.Contains(page, "<nav") || !strings.Contains(page, "swagger") {
		t.Errorf("the API's page leads to a console that is off:\n%s", page)
	}
}
