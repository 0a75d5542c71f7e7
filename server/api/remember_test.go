package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Values of Cache-Status.
const (
	fromMemory = "tasklens; hit"
	madeOnce   = "tasklens; fwd=miss"
)

// from checks a response's Cache-Status.
func (r *response) from(status string) *response {
	r.t.Helper()
	r.want(http.StatusOK)
	if got := r.header.Get("Cache-Status"); got != status {
		r.t.Errorf("Cache-Status is %q, want %q", got, status)
	}
	if says, is := strings.Contains(r.text, `"cached":true`), status == fromMemory; says != is {
		r.t.Errorf("cached: %t beside %q", says, status)
	}
	return r
}

// traffic counts the service's upstream requests by name.
func (s *service) traffic() map[string]int {
	count := map[string]int{}
	for _, u := range []*upstream{s.database, s.model} {
		u.mutex.Lock()
		for _, request := range u.seen {
			count[request.name]++
		}
		u.mutex.Unlock()
	}
	return count
}

// costs checks the upstream requests of a step.
func (s *service) costs(want map[string]int, step func()) {
	s.t.Helper()
	before := s.traffic()
	step()
	for name, count := range s.traffic() {
		if made := count - before[name]; made != want[name] {
			s.t.Errorf("%s was asked %d times, want %d", name, made, want[name])
		}
	}
}

var oneVersion = map[string]int{"data_version": 1}

// A stream and a whole response share one cache entry, whichever was made first.
func TestCachedAnswerAsStream(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for i, question := range []string{doubleCharge, "Why is the payment page slow?"} {
		for round := range 2 {
			want := map[string]int{}
			if round == 1 {
				want = oneVersion
			} else if i == 0 {
				s.ask(question)
				want = oneVersion
			} else {
				want = map[string]int{"data_version": 1, "embeddings": 1, "retrieve_chunks": 1, "completions": 1}
			}
			s.costs(want, func() {
				opened := s.openStream(question, nil)
				status := opened.response.Header.Get("Cache-Status")
				first, _ := opened.next()
				before := decoded[answered](t, first)
				names, text, last := opened.rest()
				done := decoded[answered](t, last)
				if first.name != "sources" || !slices.Equal(names, []string{"delta", "done"}) || text != done.Answer || len(before.Sources) != len(done.Sources) ||
					before.Sources[0].Cited || !done.Sources[0].Cited || *before.BestSimilarity != *done.BestSimilarity {
					t.Errorf("%q: events are %s (%+v), %q, the text %q, the last %+v", question, first.name, before, names, text, last)
				}
				if cached := len(want) == 1; done.Cached != cached || cached != (status == fromMemory) || !cached && status != madeOnce {
					t.Errorf("%q: cached is %t, Cache-Status %q", question, done.Cached, status)
				}
			})
		}
		s.post("/api/query", map[string]any{"question": question}).from(fromMemory)
	}
}
