package api_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// The time of a cached response over HTTP, including the client, loopback and the one call that
// reads the data's version.
func BenchmarkRemembered(b *testing.B) {
	s := startTracker(b)
	for path, body := range map[string]string{
		"/api/hybrid-search": `{"query":"payment charged twice","match_threshold":0}`,
		"/api/query":         `{"question":"Why was the customer charged twice?","match_threshold":0}`,
	} {
		b.Run(path[len("/api/"):], func(b *testing.B) {
			ask := func() string {
				answer, err := s.client.Post(s.url+path, "application/json", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				defer answer.Body.Close()
				if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
					b.Fatal(answer.StatusCode, err)
				}
				return answer.Header.Get("Cache-Status")
			}
			ask()
			for b.Loop() {
				if from := ask(); from != fromMemory {
					b.Fatalf("Cache-Status is %q", from)
				}
			}
		})
	}
}
