package api_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/offline"
)

// logged is a row of the query log.
type logged struct {
	RequestID      string
	Kind           string
	Question       string
	Outcome        string
	Error          *string
	Sources        int
	Keys           []string // of the tickets that the answer cites
	BestSimilarity *float64
	Answer         *string
	Model          *string
	Low            bool
	Uncited        bool
	Unknown        int // citations
	Streamed       bool
	Cached         bool
	TokensIn       int
	Steps          string // those that have a time
	Total          float64
}

// logging is a service that keeps a query log.
func logging(c *setup) { c.log = true }

// queryLog stops the service, so that all entries are written, and returns them by request.
func (s *service) queryLog() map[string]logged {
	s.t.Helper()
	if err := s.stop(patience); err != nil {
		s.t.Fatalf("stop the service: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.queries.Close(ctx)
	rows, _ := s.connect().Query(ctx, `select request_id, kind, question, outcome, error, jsonb_array_length(sources),
		array(select source ->> 'ticket_key' from jsonb_array_elements(sources) source where (source ->> 'cited')::boolean),
		best_similarity, answer, model, low_similarity, uncited, unknown_citations, streamed, cached, tokens_in,
		concat_ws(' ', case when embedding_ms > 0 then 'embed' end, case when retrieval_ms > 0 then 'retrieve' end, case when chat_ms > 0 then 'chat' end),
		total_ms from tasklens.query_log order by asked_at`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[logged])
	if err != nil {
		s.t.Fatalf("read the log: %v", err)
	}
	byRequest := map[string]logged{}
	for _, row := range list {
		byRequest[row.RequestID] = row
	}
	if len(byRequest) != len(list) {
		s.t.Errorf("%d rows for %d requests", len(list), len(byRequest))
	}
	return byRequest
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

func TestQueriesAreLogged(t *testing.T) {
	t.Parallel()
	s := startTracker(t, logging, forgetful)
	ask := func(id, path string, body map[string]any) { s.post(path, body, "X-Request-Id", id) }
	ask("answered", "/api/query", map[string]any{"question": doubleCharge})
	ask("streamed", "/api/query", map[string]any{"question": doubleCharge, "stream": true})
	ask("abstained", "/api/query", map[string]any{"question": "xylophone zebra quux"})
	ask("found", "/api/hybrid-search", map[string]any{"query": "charged twice"})
	ask("nothing", "/api/hybrid-search", map[string]any{"query": "charged twice", "status_filter": "No such status"})
	ask("wordless", "/api/hybrid-search", map[string]any{"query": "🔥"})
	ask("invalid", "/api/query", map[string]any{"question": ""})
	s.says("I cannot say [9].", "", "stop")
	ask("uncited", "/api/query", map[string]any{"question": doubleCharge})
	s.says("", "I will not say.", "stop")
	ask("refused", "/api/query", map[string]any{"question": doubleCharge})
	s.model.answer("completions", http.StatusInternalServerError, upstreamText)
	ask("failed", "/api/query", map[string]any{"question": doubleCharge})
	s.model.answer("embeddings", http.StatusInternalServerError, upstreamText)
	ask("degraded", "/api/hybrid-search", map[string]any{"query": "charged twice"})
	ask("failed-at-once", "/api/query", map[string]any{"question": doubleCharge})

	rows := s.queryLog()
	const all = "embed retrieve chat"
	for id, want := range map[string]struct {
		kind, outcome, failure string
		streamed, low, uncited bool
		sources                bool
		steps                  string
	}{
		"answered":       {kind: "query", outcome: "answered", sources: true, steps: all},
		"streamed":       {kind: "query", outcome: "answered", sources: true, steps: all, streamed: true},
		"abstained":      {kind: "query", outcome: "abstained", low: true, steps: all},
		"uncited":        {kind: "query", outcome: "answered", sources: true, uncited: true, steps: all},
		"refused":        {kind: "query", outcome: "refused", sources: true, steps: all},
		"failed":         {kind: "query", outcome: "failed", failure: "provider", sources: true, steps: all},
		"failed-at-once": {kind: "query", outcome: "failed", failure: "provider", steps: ""},
		"found":          {kind: "search", outcome: "found", sources: true},
		"nothing":        {kind: "search", outcome: "nothing", low: true},
		"wordless":       {kind: "search", outcome: "nothing", low: true},
		"degraded":       {kind: "search", outcome: "degraded", low: true, sources: true},
	} {
		row, written := rows[id]
		if !written {
			t.Errorf("%s: not logged", id)
			continue
		}
		if row.Kind != want.kind || row.Outcome != want.outcome || text(row.Error) != want.failure || row.Streamed != want.streamed || row.Low != want.low ||
			row.Uncited != want.uncited || (row.Sources > 0) != want.sources || row.Steps != want.steps || row.Total <= 0 {
			t.Errorf("%s: %+v", id, row)
		}
	}
	got := rows["answered"]
	if got.Question != doubleCharge || !slices.Equal(got.Keys, []string{"TX-400"}) || text(got.Answer) == "" || text(got.Model) != offline.ChatModel ||
		got.BestSimilarity == nil || *got.BestSimilarity <= between || got.TokensIn == 0 {
		t.Errorf("the answered one: %+v", got)
	}
	if rows["uncited"].Unknown != 1 || got.Unknown != 0 {
		t.Errorf("the unknown citation is counted as %d, and of another answer as %d", rows["uncited"].Unknown, got.Unknown)
	}
	if text(rows["refused"].Answer) != "I will not say." || rows["failed"].Answer != nil {
		t.Errorf("refused: %+v; failed: %+v", rows["refused"], rows["failed"])
	}
	if _, kept := rows["invalid"]; kept || len(rows) != 11 {
		t.Errorf("%d rows, an invalid request among them: %t", len(rows), kept)
	}
}

// Searches that nobody typed are not logged: they count, or find the filter that leaves nothing.
// Nor are those by keywords alone, which call no model and are not cached.
func TestWhatIsNotLogged(t *testing.T) {
	t.Parallel()
	s := startTracker(t, logging)
	before := len(s.model.inputs(t))
	for range 2 {
		got := s.search("charged twice", map[string]any{"retrieval": "keyword", "facets": true})
		if got.Cached || len(got.Degraded) > 0 || !slices.Equal(got.Executed, []string{"keyword"}) || len(got.Results) == 0 {
			t.Errorf("by keywords alone: %+v", got)
		}
	}
	if asked := s.model.inputs(t)[before:]; len(asked) > 0 {
		t.Errorf("embedded were %q", asked)
	}
	for range 2 { // computed, and from the cache
		s.post("/api/hybrid-search", map[string]any{"query": "charged twice", "log": false}, "X-Request-Id", "unlogged")
		s.tool("list_values", map[string]any{"query": "charged twice"})
	}
	s.post("/api/hybrid-search", map[string]any{"query": "charged twice", "log": true}, "X-Request-Id", "logged")
	s.tool("search_tickets", map[string]any{"query": "charged twice project:TX", "filters": map[string]any{"created": map[string]any{"to": "2001-01-01"}}}, "X-Request-Id", "explained")
	if rows := s.queryLog(); len(rows) != 2 || !rows["logged"].Cached || rows["explained"].Outcome != "nothing" {
		t.Errorf("logged: %+v", rows)
	}
}

// Cached responses are logged too, at no cost in tokens.
func TestCachedResponsesAreLogged(t *testing.T) {
	t.Parallel()
	s := startTracker(t, logging)
	for _, turn := range []string{"first", "again"} {
		s.post("/api/query", map[string]any{"question": doubleCharge}, "X-Request-Id", turn+"-query")
		s.post("/api/query", map[string]any{"question": doubleCharge, "stream": true}, "X-Request-Id", turn+"-stream")
		s.post("/api/query", map[string]any{"question": "xylophone zebra quux"}, "X-Request-Id", turn+"-nothing")
		s.post("/api/hybrid-search", map[string]any{"query": "charged twice"}, "X-Request-Id", turn+"-search")
	}
	rows := s.queryLog()
	for first, again := range map[string]string{
		"first-query": "again-query", "first-stream": "again-stream", "first-nothing": "again-nothing", "first-search": "again-search",
	} {
		was, is := rows[first], rows[again]
		if !is.Cached || is.TokensIn != 0 || is.Steps != "" {
			t.Errorf("%s: %+v", again, is)
		}
		if is.Outcome != was.Outcome || is.Sources != was.Sources || !slices.Equal(is.Keys, was.Keys) || text(is.Answer) != text(was.Answer) ||
			text(is.Model) != text(was.Model) || is.Low != was.Low || is.Streamed != was.Streamed {
			t.Errorf("%s: %+v\n%s: %+v", first, was, again, is)
		}
	}
	if rows["first-query"].Cached || rows["first-query"].TokensIn == 0 || rows["first-search"].Cached {
		t.Errorf("the first: %+v", rows)
	}
}

// A client that leaves in the middle of a stream is logged.
func TestAClientThatLeftIsLogged(t *testing.T) {
	t.Parallel()
	s := startTracker(t, logging)
	s.streams(func(say func(piece, finish string), r *http.Request, _ io.Writer) {
		say("So ", "")
		<-r.Context().Done()
	})
	events := s.openStream(doubleCharge, nil)
	events.next()
	events.leave()
	_ = events.response.Body.Close()
	rows := s.queryLog()
	if len(rows) != 1 {
		t.Fatalf("the log holds %+v", rows)
	}
	for _, row := range rows {
		if row.Outcome != "left" || row.Error != nil || row.Sources == 0 || !row.Streamed {
			t.Errorf("logged is %+v", row)
		}
	}
}
