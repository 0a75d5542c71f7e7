package api_test

import (
	"net/http"
	"testing"
)

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
