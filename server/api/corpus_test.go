package api_test

import (
	"net/http"
	"testing"
)

// A cached answer from documents is invalidated by changes to documents, not to tickets.
func TestAnswersFromDocumentsAreRemembered(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	ids := s.shelve(notes...)
	type fromAll struct {
		Cached  bool
		Sources []struct {
			DocumentID *string `json:"document_id"`
		}
	}
	ask := func(corpus string) fromAll {
		t.Helper()
		return read[fromAll](s.post("/api/query", map[string]any{"question": "Is a failed payment retried with the same idempotency key?", "match_threshold": 0.2, "corpus": corpus}))
	}
	remembered := func(documents, all bool, after string) {
		t.Helper()
		if got := ask("documents").Cached; got != documents {
			t.Errorf("after %s the answer from documents is cached: %t", after, got)
		}
		if got := ask("all").Cached; got != all {
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
	for _, source := range ask("documents").Sources {
		if *source.DocumentID == ids["Payment"] {
			t.Error("an archived document is a source")
		}
	}
}
