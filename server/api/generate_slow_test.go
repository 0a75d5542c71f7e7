package api_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/testbed"
)

// A text that takes a slow database longer than the statement timeout of the role is stored whole.
// A proxy that refuses it fails the request, and leaves what was stored before.
func TestGenerateInASlowDatabase(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) {
		c.requestTimeout = 5 * time.Minute
		c.database = func(t testing.TB) *testbed.DB {
			db := testbed.Database(t)
			testbed.Slow(t, db)
			return db
		}
	})
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "A long story", Description: strings.Join(paragraphs(400), "\n\n")}})
	var small atomic.Bool
	small.Store(true)
	s.database.intercept(func(w http.ResponseWriter, _ *http.Request, _ string, body []byte) bool {
		if small.Load() && len(body) > 1_000_000 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return true
		}
		return false
	})
	s.generate("TX", "TX-1").want(http.StatusInternalServerError)
	if chunks := read[struct{ Chunks int }](s.get("/api/embeddings/status")); chunks.Chunks != 0 {
		t.Errorf("%d chunks are stored", chunks.Chunks)
	}
	small.Store(false)
	made := read[generated](s.generate("TX", "TX-1"))
	if made.Chunks < 100 || made.Chunks != len(made.EmbeddingIDs) || made.Embedded != made.Chunks {
		t.Errorf("it made %d chunks: %d embedded, %d kept", made.Chunks, made.Embedded, made.Reused)
	}
	if chunks := s.chunks(s.connect(), "TX-1"); len(chunks) != made.Chunks || !strings.Contains(chunks[0].Text, "A long story") {
		t.Errorf("%d chunks are stored, the first is %q", len(chunks), chunks[0].Text)
	}
}
