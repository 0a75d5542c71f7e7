package api_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/testbed"
)

// A slow database behind a proxy with a small body limit becomes unreachable in the middle of a
// long text. The request fails; what was stored is not embedded again, and a retry completes.
func TestGenerateInASlowDatabase(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) {
		c.requestTimeout = 5 * time.Minute
		c.database = func(t testing.TB) *testbed.DB {
			db := testbed.Database(t)
			testbed.Slow(t, db, 10*time.Millisecond, 800*time.Millisecond)
			return db
		}
	})
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "A long story", Description: strings.Join(paragraphs(400), "\n\n")}})
	const most = 400_000 // bytes; a full call has about twice as many
	var refused, staged atomic.Int64
	s.database.intercept(func(w http.ResponseWriter, _ *http.Request, name string, body []byte) bool {
		switch {
		case len(body) > most:
			refused.Add(1)
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		case name == "stage_chunks" && staged.Add(1) == 4:
			w.WriteHeader(http.StatusBadGateway)
		default:
			return false
		}
		return true
	})
	s.generate("TX", "TX-1").want(http.StatusServiceUnavailable)
	if chunks := read[struct{ Chunks int }](s.get("/api/embeddings/status")); chunks.Chunks != 0 {
		t.Errorf("%d chunks are seen before all are there", chunks.Chunks)
	}
	made := read[generated](s.generate("TX", "TX-1"))
	if made.Chunks < 100 || made.Chunks != len(made.EmbeddingIDs) || made.Reused == 0 || made.Embedded+made.Reused != made.Chunks {
		t.Errorf("in the end it made %d chunks: %d embedded, %d kept", made.Chunks, made.Embedded, made.Reused)
	}
	// Chunks are stored in batches of 40 as they are embedded, so at most one batch is lost.
	if inputs := len(s.model.inputs(t)); inputs < made.Chunks || inputs > made.Chunks+40 {
		t.Errorf("%d inputs were embedded for %d chunks", inputs, made.Chunks)
	}
	if refused.Load() == 0 {
		t.Error("no body was too large")
	}
	if chunks := s.chunks(s.connect(), "TX-1"); len(chunks) != made.Chunks || !strings.Contains(chunks[0].Text, "A long story") {
		t.Errorf("%d chunks are stored, the first is %q", len(chunks), chunks[0].Text)
	}
}
