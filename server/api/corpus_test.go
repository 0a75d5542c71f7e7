package api_test

import (
	"net/http"
	"slices"
	"strings"
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

// kinds returns the distinct source types in alphabetical order.
func (a fromAll) kinds() string {
	var kinds []string
	for _, s := range a.Sources {
		kinds = append(kinds, s.Type)
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " ")
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

func TestCorpora(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	ids := s.shelve(notes...)
	for corpus, want := range map[string]string{"": "ticket", "tickets": "ticket", "documents": "document", "all": "document ticket"} {
		got := s.askOf(corpus)
		kinds := strings.TrimSpace(strings.ReplaceAll(got.kinds(), "project ", ""))
		if kinds != want || got.Low {
			t.Errorf("%q: the sources are of %q, not %q: %+v", corpus, kinds, want, got)
		}
		for i, source := range got.Sources {
			document := source.DocumentID != nil && source.Title != nil && source.TicketID == nil && source.TicketKey == nil && source.ProjectID == nil
			ticket := source.DocumentID == nil && source.Title == nil && source.ProjectID != nil
			if source.Type == "document" && !document || source.Type != "document" && !ticket || source.Similarity <= 0.2 {
				t.Errorf("%q: source %d is %+v", corpus, i, source)
			}
		}
	}
	documents := s.askOf("documents")
	if first := documents.Sources[0]; *first.DocumentID != ids["Payment"] || *first.Title != "Payment retries" || !first.Cited {
		t.Errorf("the first document is %+v", first)
	}
}

// A filter applies to tickets and not to documents. With documents only, it is an error.
func TestCorporaAndFilters(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	s.shelve(notes...)
	if got := s.askOf("all", "status_filter", "No such status"); got.kinds() != "document" {
		t.Errorf("beside a status that nothing has are %q", got.kinds())
	}
	for body, field := range map[string]string{
		`{"question":"x","corpus":"documents","project_id":1}`:         "project_id",
		`{"question":"x","corpus":"documents","status_filter":"Done"}`: "status_filter",
	} {
		s.refuse("/api/query", invalid{name: body, body: body, fields: []string{field}, beyond: true})
	}
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
