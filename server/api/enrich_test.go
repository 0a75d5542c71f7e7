package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tasklens/internal/enrich"
)

// writeDocuments inserts documents into the database directly.
func (s *service) writeDocuments(count int, title string) {
	s.t.Helper()
	run(s.t, s.connect(), `insert into public.documents (title, content)
		select $2::text || ' ' || i, 'Wiktor restarts the pump in Graz when it stops. The pump is loud.' from generate_series(1, $1::integer) i`, count, title)
}

func (s *service) enrich(body string) enrich.Report {
	s.t.Helper()
	return read[enrich.Report](s.send(http.MethodPost, "/api/knowledge/enrich/batch", body))
}

func (s *service) enrichStats() enrich.Stats {
	s.t.Helper()
	return read[enrich.Stats](s.get("/api/knowledge/enrich/stats"))
}

func TestEnrich(t *testing.T) {
	t.Parallel()
	s := start(t)
	if got := s.enrichStats(); got != (enrich.Stats{}) {
		t.Errorf("of an empty database: %+v", got)
	}
	if got := s.send(http.MethodPost, "/api/knowledge/enrich/batch", `{}`).text; got != `{"processed":0,"succeeded":0,"errors":[]}` {
		t.Errorf("of an empty database: %s", got)
	}
	s.writeDocuments(14, "The pump")
	if got := s.enrich(`{"batch_size": 3}`); got.Processed != 3 || got.Succeeded != 3 {
		t.Errorf("of three: %+v", got)
	}
	if got := s.enrichStats(); got != (enrich.Stats{Total: 14, Enriched: 3, Unenriched: 11}) {
		t.Errorf("after three: %+v", got)
	}
	if got := s.enrich(`{"batch_size": null}`); got.Processed != 10 {
		t.Errorf("of as many as usual: %+v", got)
	}
	if got := s.enrich(""); got.Processed != 1 {
		t.Errorf("of the last, without a body: %+v", got)
	}
	s.send(http.MethodPost, "/api/knowledge/enrich/batch", "", "Content-Type", "application/json").want(http.StatusOK)
	s.send(http.MethodPost, "/api/knowledge/enrich/batch", " ", "Content-Type", "application/json").want(http.StatusBadRequest)
	var names, class, model string
	if err := s.connect().QueryRow(t.Context(), `select named_entities::text, temporal_class, enrichment_model from public.documents where enriched_at is not null limit 1`).Scan(&names, &class, &model); err != nil ||
		!strings.Contains(names, `"Wiktor"`) || !strings.Contains(names, `"Graz"`) || class != "evergreen" || model != "offline-chat" {
		t.Errorf("stored are %s %s %s, %v", names, class, model, err)
	}
	s.get("/api/knowledge/enrich/stats?all=1").want(http.StatusBadRequest)
	s.get("/api/knowledge/enrich/stats", "Authorization", "Bearer "+s.token("anon")).want(http.StatusForbidden)
	s.send(http.MethodPost, "/api/knowledge/enrich/batch", `{}`, "Authorization", "Bearer "+s.token("authenticated")).want(http.StatusForbidden)
	for _, c := range []invalid{
		{name: "none", body: `{"batch_size":0}`, fields: []string{"batch_size"}},
		{name: "too many", body: `{"batch_size":101}`, fields: []string{"batch_size"}},
		{name: "text", body: `{"batch_size":"10"}`, fields: []string{"batch_size"}},
		{name: "another", body: `{"size":1}`, fields: []string{"size"}},
		{name: "no object", body: `[]`},
	} {
		s.refuse("/api/knowledge/enrich/batch", c)
	}
}

// A failure of one document is reported with its id and without the provider's message.
func TestEnrichTellsWhatFailed(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.writeDocuments(2, "The pump")
	s.writeDocuments(1, "The broken one")
	s.model.intercept(func(w http.ResponseWriter, _ *http.Request, name string, body []byte) bool {
		broken := name == "completions" && strings.Contains(string(body), "The broken one")
		if broken {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"`+upstreamText+`"}}`)
		}
		return broken
	})
	got := s.enrich(`{}`)
	if got.Processed != 3 || got.Succeeded != 2 || len(got.Errors) != 1 || got.Errors[0].Error != "The model provider refuses the request." {
		t.Errorf("report is %+v", got)
	}
	var kept string
	if err := s.connect().QueryRow(t.Context(), "select id || ' ' || enrichment_error from public.documents where title like 'The broken one%'").Scan(&kept); err != nil || len(got.Errors) == 1 && kept != got.Errors[0].ID+" "+got.Errors[0].Error {
		t.Errorf("kept is %q, %v", kept, err)
	}
	if got := s.enrichStats(); got != (enrich.Stats{Total: 3, Enriched: 2, Unenriched: 1, Failed: 1}) {
		t.Errorf("counted are %+v", got)
	}
}

// A batch that the provider interrupts reports what it completed.
func TestEnrichStoppedInTheMiddle(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.writeDocuments(1, "The first one")
	s.writeDocuments(3, "The pump")
	stored := make(chan struct{})
	s.database.then(func(name string) {
		if name == "store_enrichment" {
			close(stored)
		}
	})
	s.model.intercept(func(w http.ResponseWriter, r *http.Request, _ string, body []byte) bool {
		if strings.Contains(string(body), "The first one") {
			return false
		}
		select {
		case <-stored:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	if got := s.enrich(`{}`); got.Processed != 1 || got.Succeeded != 1 || len(got.Errors) != 0 {
		t.Errorf("report is %+v", got)
	}
}

// A batch that could process nothing returns the error.
func TestEnrichWithoutTheProvider(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{http.StatusTooManyRequests: http.StatusServiceUnavailable, http.StatusUnauthorized: http.StatusBadGateway} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.writeDocuments(3, "The pump")
			s.model.answer("completions", status, `{"error":{"message":"`+upstreamText+`"}}`, "Retry-After", "7")
			refused := s.send(http.MethodPost, "/api/knowledge/enrich/batch", `{}`).want(want)
			if status == http.StatusTooManyRequests && refused.header.Get("Retry-After") != "7" {
				t.Errorf("Retry-After is %q", refused.header.Get("Retry-After"))
			}
			if got := s.enrichStats(); got.Failed != 0 || got.Unenriched != 3 {
				t.Errorf("counted are %+v", got)
			}
		})
	}
}
