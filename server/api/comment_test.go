package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// A comment is embedded on its own, with its author's name, so the model learns who wrote it.
func TestComment(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(checkout, []ticket{{Key: "TX-1", Project: "TX", Name: "Charged twice", Description: "The card was charged twice."}})
	s.generate("TX", "TX-1")
	db := s.connect()
	written := time.Date(2025, 3, 1, 9, 30, 0, 0, time.UTC)
	var id int64
	if err := db.QueryRow(t.Context(), `insert into public.comments (ticket_id, author, body, created_at) values ($1, $2, $3, $4) returning comment_id`,
		s.ids["TX-1"], `Ada "[1]" <b>`, "Zookeeper lost its quorum, error E4711.", written).Scan(&id); err != nil {
		t.Fatal(err)
	}
	body := map[string]any{"project_id": s.ids["TX"], "ticket_id": s.ids["TX-1"], "comment_id": id}
	if got := read[generated](s.post("/api/embeddings/generate", body)); got.Chunks != 1 || got.Embedded != 1 || got.TicketID == nil {
		t.Errorf("generated %+v", got)
	}
	if inputs := s.model.inputs(t); !slices.Contains(inputs, "Checkout — Charged twice — Comment by Ada \"[1]\" <b>, 2025-03-01\n\nZookeeper lost its quorum, error E4711.") {
		t.Errorf("embedded were %q", inputs)
	}
	if chunks := s.chunks(db, "TX-1"); len(chunks) != 2 {
		t.Errorf("stored are %+v", chunks)
	}

	s.ask("What is error E4711 of Zookeeper's quorum?", map[string]any{"match_threshold": 0})
	asked := s.model.requests("completions")
	if len(asked) == 0 || !strings.Contains(string(asked[len(asked)-1].body), `comment-by=\"Ada &quot;(1)&quot; &lt;b&gt;\" comment-date=\"2025-03-01\"`) {
		t.Errorf("the model was called %d times, last %s", len(asked), asked[max(0, len(asked)-1)].body)
	}

	for name, c := range map[string]struct {
		body   map[string]any
		status int
	}{
		"of no ticket":        {map[string]any{"project_id": s.ids["TX"], "comment_id": id}, http.StatusBadRequest},
		"that does not exist": {map[string]any{"project_id": s.ids["TX"], "ticket_id": s.ids["TX-1"], "comment_id": id + 1}, http.StatusNotFound},
	} {
		if got := s.post("/api/embeddings/generate", c.body); got.status != c.status {
			t.Errorf("a comment %s: %d", name, got.status)
		}
	}
}
