package api_test

import (
	"net/http"
	"slices"
	"testing"
)

// fromAll is an answer from tickets and documents.
type fromAll struct {
	Answer  string
	Cached  bool
	Low     bool `json:"low_similarity"`
	Sources []anySource
}

type anySource struct {
	Type       string
	TicketID   *int64  `json:"ticket_id"`
	TicketKey  *string `json:"ticket_key"`
	ProjectID  *int64  `json:"project_id"`
	DocumentID *string `json:"document_id"`
	Title      *string
	Similarity float64
	Cited      bool
}

const retried = "Is a failed payment retried with the same idempotency key, so that no card is charged twice?"

func (s *service) askOf(corpus string, more ...string) fromAll {
	s.t.Helper()
	body := map[string]any{"question": retried, "match_threshold": 0.2, "top_k": 10}
	if corpus != "" {
		body["corpus"] = corpus
	}
	for i := 0; i < len(more); i += 2 {
		body[more[i]] = more[i+1]
	}
	return read[fromAll](s.post("/api/query", body))
}

// A cached answer from documents is invalidated by changes to documents, not to tickets.
func TestAnswersFromDocumentsAreRemembered(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	ids := s.shelve(notes...)
	remembered := func(documents, all bool, after string) {
		t.Helper()
		if got := s.askOf("documents").Cached; got != documents {
			t.Errorf("after %s the answer from documents is cached: %t", after, got)
		}
		if got := s.askOf("all").Cached; got != all {
			t.Errorf("after %s the answer from all texts is cached: %t", after, got)
		}
	}
	remembered(false, false, "the start")
	remembered(true, true, "nothing")
	s.get(find("retries", "&hybrid=true"))
	s.post("/api/knowledge/documents/"+ids["Payment"]+"/feedback", map[string]any{"helpful": true}).want(http.StatusNoContent)
	remembered(true, true, "a vote")
	run(t, s.connect(), "update public.tickets set description = 'New' where ticket_id = $1", s.ids["TX-400"])
	remembered(true, false, "an edit of a ticket")
	s.send(http.MethodDelete, "/api/knowledge/documents/"+ids["Lunch"], "").want(http.StatusNoContent)
	remembered(false, false, "a deletion")
	run(t, s.connect(), "update public.documents set archived = true where id = $1", ids["Payment"])
	remembered(false, false, "archiving")
	if got := s.askOf("documents"); slices.ContainsFunc(got.Sources, func(x anySource) bool { return *x.DocumentID == ids["Payment"] }) {
		t.Error("an archived document is a source")
	}
}
