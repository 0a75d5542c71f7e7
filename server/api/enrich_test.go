package api_test

import (
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
