package api_test

import (
	"net/http"
	"testing"
)

// A cached answer from documents is invalidated by changes to documents, not to tickets. Which
// changes these are is tested with the data's version.
func TestAnswersFromDocumentsAreRemembered(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	ids := s.shelve(notes...)
	for _, step := range []struct {
		after          string
		do             func()
		documents, all bool // come from the cache
	}{
		{"the start", func() {}, false, false},
		{"nothing", func() {}, true, true},
		{"an edit of a ticket", func() {
			run(t, s.connect(), "update public.tickets set description = 'New' where ticket_id = $1", s.ids["TX-400"])
		}, true, false},
		{"a deletion", func() {
			s.send(http.MethodDelete, "/api/knowledge/documents/"+ids["Lunch"], "").want(http.StatusNoContent)
		}, false, false},
	} {
		step.do()
		for corpus, cached := range map[string]bool{"documents": step.documents, "all": step.all} {
			got := s.ask("Is a failed payment retried with the same idempotency key?", map[string]any{"match_threshold": 0.2, "corpus": corpus})
			if got.Cached != cached || len(got.Sources) == 0 {
				t.Errorf("after %s the answer from %s is %+v", step.after, corpus, got)
			}
		}
	}
}
