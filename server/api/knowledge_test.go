package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/index"
	"tasklens/internal/knowledge"
)

// notes are the documents of a shelf.
var notes = []map[string]any{
	{"title": "Raft in the ledger", "content": "The replicas of the ledger agree by the Raft consensus algorithm.", "keywords": []string{"raft", "consensus"}, "temporal_class": "evergreen"},
	{"title": "Paxos in the ledger", "content": "The replicas of the ledger once agreed by the Paxos consensus algorithm.", "temporal_class": "historical"},
	{"title": "Payment retries", "content": "A payment that fails is retried with the same idempotency key, so that no card is charged twice."},
	{"title": "Lunch", "content": "The canteen has soup on Mondays."},
}

// shelve adds and embeds documents, and returns their ids by the first word of their titles.
func (s *service) shelve(documents ...map[string]any) map[string]string {
	s.t.Helper()
	ids := map[string]string{}
	for _, document := range documents {
		r := s.post("/api/knowledge/documents", document).want(http.StatusCreated)
		var written struct {
			ID     string
			Status string `json:"embedding_status"`
		}
		if err := json.Unmarshal([]byte(r.text), &written); err != nil || written.Status != "pending" {
			s.t.Fatalf("%v: %s", err, r.text)
		}
		name, _, _ := strings.Cut(document["title"].(string), " ")
		ids[name] = written.ID
	}
	s.embedDocuments()
	return ids
}

// embedDocuments does the worker's part.
func (s *service) embedDocuments() {
	s.t.Helper()
	rows, _ := s.connect().Query(s.t.Context(), `select id::text from public.documents where embedding_status = 'pending' order by id`)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.t.Fatal(err)
	}
	for _, id := range ids {
		s.embed(index.Source{DocumentID: id})
	}
}

func find(query string, more ...string) string {
	return "/api/knowledge/search?q=" + url.QueryEscape(query) + strings.Join(more, "")
}

// Retrievals are counted for both forms, with the query; track=false disables it. A slow or failing
// tracker does not affect the response.
func TestRetrievalsAreCounted(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.shelve(notes...)
	release := make(chan struct{})
	s.database.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "track_document_retrievals" {
			<-release
		}
		return false
	})
	s.get(find("ledger", "&limit=1&threshold=0"))
	s.get(find("Raft  consensus", "&limit=1&threshold=0&hybrid=true"))
	s.get(find("Raft", "&limit=1&threshold=0&hybrid=true&track=false"))
	close(release) // all requests were answered before the first was counted
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.tracker.Close(ctx)
	counted := 0
	var queries []string
	for _, id := range ids {
		document := read[knowledge.Document](s.get("/api/knowledge/documents/" + id))
		counted += int(document.RetrievalCount)
		queries = append(queries, document.RetrievalQueries...)
	}
	slices.Sort(queries)
	if counted != 2 || !slices.Equal(queries, []string{"Raft consensus", "ledger"}) {
		t.Errorf("%d retrievals are counted, by %q", counted, queries)
	}
	s.get(find("after the end")).want(http.StatusOK)
}
