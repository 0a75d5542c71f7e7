package api_test

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/index"
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

// embedDocuments embeds those that are not.
func (s *service) embedDocuments() {
	s.t.Helper()
	rows, _ := s.connect().Query(s.t.Context(), `select id::text from public.documents where embedding_status = 'pending' order by id`)
	sources, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (source index.Source, err error) {
		return source, row.Scan(&source.DocumentID)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.embed(sources...)
}
