package querylog

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/answer"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/search"
)

func is[T any](x T) *T { return &x }

func source(project int64, similarity float64) answer.Source {
	s := answer.Source{ProjectID: is(project), TicketID: is(project * 10), Similarity: is(similarity), Text: "never logged"}
	if similarity < 0 {
		s.Similarity = nil // found by keywords only
	}
	return s
}

func TestAnswerFlags(t *testing.T) {
	t.Parallel()
	type flags struct{ low, ambiguous, uncited bool }
	cited := source(1, 0.9)
	cited.Cited = true
	for name, c := range map[string]struct {
		found answer.Answer
		want  flags
	}{
		"above the threshold, cited":     {answer.Answer{Outcome: answer.Answered, Sources: []answer.Source{cited, source(2, 0.8)}}, flags{}},
		"nothing cited":                  {answer.Answer{Outcome: answer.Answered, Sources: []answer.Source{source(1, 0.9)}}, flags{uncited: true}},
		"truncated before a citation":    {answer.Answer{Outcome: answer.CutOff, Sources: []answer.Source{source(1, 0.9)}}, flags{uncited: true}},
		"refused without a citation":     {answer.Answer{Outcome: answer.Refused, Sources: []answer.Source{source(1, 0.9)}}, flags{}},
		"nothing relevant":               {answer.Answer{Outcome: answer.Abstained, LowSimilarity: true}, flags{low: true}},
		"below the request's threshold":  {answer.Answer{Outcome: answer.Answered, LowSimilarity: true, Sources: []answer.Source{cited}}, flags{low: true}},
		"below the configured threshold": {answer.Answer{Outcome: answer.Refused, Sources: []answer.Source{source(1, 0.7), source(1, 0.6)}}, flags{low: true}},
		"keyword hits only":              {answer.Answer{Outcome: answer.Refused, Sources: []answer.Source{source(1, -1), source(2, -1)}}, flags{low: true}},
		"a tie across projects":          {answer.Answer{Outcome: answer.Refused, Sources: []answer.Source{source(1, 0.8), source(1, 0.71), source(2, 0.795)}}, flags{ambiguous: true}},
		"a tie within one project":       {answer.Answer{Outcome: answer.Refused, Sources: []answer.Source{source(1, 0.8), source(1, 0.8), source(2, 0.8)}}, flags{}},
		"nearly a tie":                   {answer.Answer{Outcome: answer.Refused, Sources: []answer.Source{source(2, 0.8), source(1, 0.82)}}, flags{}},
		"a tie after a keyword hit":      {answer.Answer{Outcome: answer.Refused, Sources: []answer.Source{source(3, -1), source(2, 0.8), source(1, 0.8)}}, flags{ambiguous: true}},
		"only one source":                {answer.Answer{Outcome: answer.Refused, Sources: []answer.Source{source(2, 0.8)}}, flags{}},
	} {
		e := OfAnswer(answer.Question{}, c.found, 0.7, nil)
		if got := (flags{e.LowSimilarity, e.Ambiguous, e.Uncited}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAnswerEntry(t *testing.T) {
	t.Parallel()
	q := answer.Question{Text: "Why?", Filters: filter.Filters{filter.Members{Projects: filter.Values{1}, Statuses: filter.Values{"Done"}}}, TopK: 5, MatchThreshold: is(0.6), Lambda: 0.5, Retrieval: "hybrid"}
	found := answer.Answer{
		Text: "So [1].", Sources: []answer.Source{{TicketID: is(int64(7)), TicketKey: is("AA-7"), TicketName: is("a name"), ProjectID: is(int64(1)), ChunkID: is("c"),
			Similarity: is(0.75), Text: "never logged", Cited: true}}, BestSimilarity: is(0.75), Model: "m", Outcome: answer.Answered, TokensIn: 9, TokensOut: 2, UnknownCitations: 3,
		Embedding: 1500 * time.Microsecond, Retrieval: 2 * time.Millisecond,
	}
	e := OfAnswer(q, found, 0.7, nil)
	e.AskedAt, e.RequestID, e.Cached, e.Streamed, e.Total = time.Date(2030, 1, 2, 3, 4, 5, 6e6, time.UTC), "r", true, true, Milliseconds(4*time.Millisecond)
	checkJSON(t, e, `{"query_id": "00000000-0000-0000-0000-000000000000", "asked_at": "2030-01-02T03:04:05.006Z", "request_id": "r", "kind": "query", "question": "Why?",
		"parameters": {"filters": {"projects": [1], "statuses": ["Done"]}, "top_k": 5, "match_threshold": 0.6, "mmr_lambda": 0.5, "retrieval": "hybrid"},
		"outcome": "answered", "sources": [{"project_id": 1, "ticket_id": 7, "ticket_key": "AA-7", "chunk_id": "c", "similarity": 0.75, "cited": true}],
		"best_similarity": 0.75, "answer": "So [1].", "model": "m", "low_similarity": false, "ambiguous": false, "uncited": false, "unknown_citations": 3, "cached": true,
		"streamed": true, "tokens_in": 9, "tokens_out": 2, "embedding_ms": 1.5, "retrieval_ms": 2, "total_ms": 4}`)

	cause := fmt.Errorf("answer: %w", fault.Wrap(fault.Provider, "The model failed.", errors.New("sk-secret")))
	e = OfAnswer(answer.Question{Text: "Why?", TopK: 5, MatchThreshold: is(0.0)}, answer.Answer{Sources: found.Sources, LowSimilarity: true}, 0.7, cause)
	checkJSON(t, e, `{"query_id": "00000000-0000-0000-0000-000000000000", "asked_at": "0001-01-01T00:00:00Z", "kind": "query", "question": "Why?",
		"parameters": {"top_k": 5, "match_threshold": 0, "mmr_lambda": 0, "retrieval": "vector"}, "outcome": "failed", "error": "provider",
		"sources": [{"project_id": 1, "ticket_id": 7, "ticket_key": "AA-7", "chunk_id": "c", "similarity": 0.75, "cited": true}], "best_similarity": null,
		"low_similarity": false, "ambiguous": false, "uncited": false, "unknown_citations": 0, "cached": false, "streamed": false, "tokens_in": 0, "tokens_out": 0, "total_ms": 0}`)
}

func TestSearchEntry(t *testing.T) {
	t.Parallel()
	hits := []search.Hit{
		{ProjectID: 2, Source: "keyword"}, {ProjectID: 1, TicketID: is(int64(7)), TicketKey: is("AA-7"), Similarity: is(0.72)},
		{ProjectID: 3, TicketID: is(int64(8)), Similarity: is(0.725)},
	}
	e := OfSearch(search.Query{Text: "pumps", Limit: 10, MatchThreshold: is(0.7)}, search.Page{Hits: hits}, 0.7, nil)
	checkJSON(t, e, `{"query_id": "00000000-0000-0000-0000-000000000000", "asked_at": "0001-01-01T00:00:00Z", "kind": "search", "question": "pumps",
		"parameters": {"match_threshold": 0.7, "limit": 10, "offset": 0}, "outcome": "found",
		"sources": [{"project_id": 2, "ticket_id": null, "ticket_key": null, "similarity": null},
			{"project_id": 1, "ticket_id": 7, "ticket_key": "AA-7", "similarity": 0.72}, {"project_id": 3, "ticket_id": 8, "ticket_key": null, "similarity": 0.725}],
		"best_similarity": 0.725, "low_similarity": false, "ambiguous": true, "uncited": false, "unknown_citations": 0, "cached": false, "streamed": false, "tokens_in": 0,
		"tokens_out": 0, "total_ms": 0}`)
	for name, c := range map[string]struct {
		query search.Query
		page  search.Page
		err   error
		want  string
	}{
		"no hits":                 {search.Query{}, search.Page{}, nil, Nothing},
		"no hits on a later page": {search.Query{Offset: 10}, search.Page{}, nil, Found},
		"keyword hits only":       {search.Query{}, search.Page{Hits: hits, Degraded: []string{"vector"}}, nil, Degraded},
		"no hits by keyword only": {search.Query{}, search.Page{Degraded: []string{"vector"}}, nil, Degraded},
		"failed":                  {search.Query{}, search.Page{}, errDown, Failed},
	} {
		if got := OfSearch(c.query, c.page, 0.7, c.err); got.Outcome != c.want || (got.Error != "") != (c.err != nil) {
			t.Errorf("%s: the outcome is %s, the error is %q", name, got.Outcome, got.Error)
		}
	}
}

func checkJSON(t *testing.T, e Entry, want string) {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var have, wanted any
	if err := errors.Join(json.Unmarshal(text, &have), json.Unmarshal([]byte(want), &wanted)); err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(wanted, have); difference != "" {
		t.Errorf("entry (-want +got):\n%s", difference)
	}
}
