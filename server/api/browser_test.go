package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Pages of other origins may make no request that reads, writes or costs anything, whether or not
// the browser names their origin.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*service{"off": start(t, origins), "on": start(t, authenticated, origins)} {
		for path, item := range theDocument(t).Paths.Map() {
			for method, operation := range item.Operations() {
				if operation.Security != nil { // a route that is open to anyone
					continue
				}
				path := regexp.MustCompile("{.*?}").ReplaceAllString(path, "1")
				for _, page := range [][]string{
					{"Origin", "https://evil.example.com"}, {"Origin", "null"}, {"Origin", "null", "Sec-Fetch-Site", "cross-site"},
					{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "nonsense"}, // as images and links are requested
				} {
					r := s.send(method, path, "", append(asking(s.user(1)), page...)...)
					if r.status != http.StatusForbidden || !strings.Contains(r.text, `"code":"origin_not_allowed"`) {
						t.Errorf("AUTH=%s: a page with %q: %s %s: %d %s", name, page, method, path, r.status, r.text)
					}
				}
			}
		}
		if asked := append(s.database.all(), s.model.all()...); len(asked) > 0 {
			t.Errorf("AUTH=%s: they cost %d requests", name, len(asked))
		}
		for _, caller := range [][]string{
			{}, {"Sec-Fetch-Site", "none"}, {"Sec-Fetch-Site", "same-origin"}, {"Origin", s.url}, {"Origin", "https://app.example.com", "Sec-Fetch-Site", "cross-site"},
			{"Origin", "https://proxied.example.com", "Sec-Fetch-Site", "same-origin"}, // behind a proxy that sets Host
		} {
			if r := s.post("/api/hybrid-search", map[string]any{"query": "why"}, append(asking(s.user(1)), caller...)...); r.status != http.StatusOK {
				t.Errorf("AUTH=%s: a caller with %q: %d %s", name, caller, r.status, r.text)
			}
		}
	}
}

// With AUTH=off the service accepts only names of its own machine.
func TestForeignNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	for host, status := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "app.localhost:1": 200, "127.0.0.1": 200, "127.9.9.9:80": 200, "[::1]:8080": 200, "[::1]": 200, "tracker": 200,
		"example.com": 403, "localhost.example.com:8080": 403, "10.0.0.1": 403, "127.0.0.1.example.com": 403, "0.0.0.0": 403, "[2001:db8::1]:80": 403,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/projects", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		if r := s.do(request, ""); r.status != status {
			t.Errorf("as %s: %d, not %d", host, r.status, status)
		}
	}
}
