package api_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type batch struct {
	Items []struct {
		Results []similarTicket
		Error   *struct{ Code, Detail string }
	}
}

func (s *service) compareAll(items ...any) batch {
	s.t.Helper()
	return read[batch](s.post("/api/tickets/similar/batch", map[string]any{"items": items, "limit": 3}))
}

// Each item gets the results of a request of its own, with one call of the model for all.
func TestSimilarBatch(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	s.load(nil, []ticket{{Key: "TX-404", Project: "TX", Name: "Charged twice", Description: "The card was charged twice after a retry."}})
	asked, embedded := len(s.model.inputs(t)), len(s.model.requests("embeddings"))
	got := s.compareAll(map[string]any{"ticket_key": "tx-400"}, map[string]any{"text": " Payment page slow\n\nOn a phone. "}, map[string]any{"ticket_key": "TX-404"},
		map[string]any{"ticket_key": "TX-999"}, map[string]any{"text": "payment page is slow", "project_id": s.ids["IAM"]})
	if inputs, calls := len(s.model.inputs(t))-asked, len(s.model.requests("embeddings"))-embedded; inputs != 3 || calls != 1 {
		t.Errorf("%d texts were embedded by %d calls", inputs, calls)
	}
	for i, alone := range []alike{
		s.similar("TX-400", "?limit=3"), s.draft(map[string]any{"text": "Payment page slow\n\nOn a phone.", "limit": 3}), s.similar("TX-404", "?limit=3"), {},
		s.draft(map[string]any{"text": "payment page is slow", "project_id": s.ids["IAM"], "limit": 3}),
	} {
		if len(got.Items) != 5 || !reflect.DeepEqual(got.Items[i].Results, alone.Results) {
			t.Fatalf("item %d: %+v; alone it gets %+v", i, got.Items, alone.Results)
		}
	}
	if failed := got.Items[3].Error; failed == nil || failed.Code != "not_found" || failed.Detail != "There is no such ticket." {
		t.Errorf("an unknown ticket has the error %+v", failed)
	}
}

func TestSimilarBatchRefused(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	item := map[string]any{"text": "x"}
	for name, c := range map[string]struct {
		body  map[string]any
		field string
	}{
		"no list":   {map[string]any{"items": item}, "items"},
		"filters":   {map[string]any{"items": []any{item}, "filters": map[string]any{"colour": 1}}, "filters.colour"},
		"a stray":   {map[string]any{"items": []any{item}, "text": "x"}, "text"},
		"null list": {map[string]any{"items": nil}, "items"},
	} {
		problem := s.post("/api/tickets/similar/batch", c.body).want(http.StatusBadRequest).problem()
		if len(problem.Errors) != 1 || problem.Errors[0].Field != c.field {
			t.Errorf("%s: the answer names %+v", name, problem.Errors)
		}
	}
	bad := []any{"x", nil, 5, map[string]any{}, map[string]any{"text": " "}, map[string]any{"text": "x", "ticket_key": "TX-400"}, map[string]any{"ticket_key": " "},
		map[string]any{"text": "x", "project_id": 0}, map[string]any{"text": 5}, map[string]any{"text": "x", "colour": 1},
		map[string]any{"text": strings.Repeat("x", 100_001)}}
	got := s.compareAll(append(bad, item)...)
	for i := range bad {
		if failed := got.Items[i].Error; failed == nil || failed.Code != "invalid" || failed.Detail == "" || got.Items[i].Results != nil {
			t.Errorf("%.50v: %+v", bad[i], got.Items[i])
		}
	}
	for _, text := range []string{`"a\u0000b"`, `"\ud83d"`} { // not valid as JSON, wherever it stands
		problem := s.send(http.MethodPost, "/api/tickets/similar/batch", `{"items":[{"text":"x"},{"text":`+text+`}]}`).want(http.StatusBadRequest).problem()
		if len(problem.Errors) != 1 || problem.Errors[0].Field != "items[1].text" {
			t.Errorf("%s: the answer names %+v", text, problem.Errors)
		}
	}
	if last := got.Items[len(bad)]; last.Error != nil || len(last.Results) != 3 {
		t.Errorf("the good one beside them: %+v", last)
	}
}

// A batch of twenty counts as twenty requests.
func TestSimilarBatchIsCounted(t *testing.T) {
	t.Parallel()
	s := start(t, limited(5))
	item := map[string]any{"text": "x"}
	three := map[string]any{"items": []any{item, item, item}}
	s.post("/api/tickets/similar/batch", three).want(http.StatusOK).remaining("5", "2")
	s.post("/api/tickets/similar/batch", three).want(http.StatusTooManyRequests)
	whole := start(t, limited(5))
	whole.post("/api/tickets/similar/batch", map[string]any{"items": slices.Repeat([]any{item}, 20)}).want(http.StatusOK).remaining("5", "0")
}
