package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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
	var sources []index.Source
	for _, id := range ids {
		sources = append(sources, index.Source{DocumentID: id})
	}
	if err == nil {
		_, err = s.indexer.Index(s.t.Context(), s.rows, sources, false)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// list is the results of a response, with raw fields.
func list(r *response) (results []map[string]any) {
	r.t.Helper()
	return read[struct{ Results []map[string]any }](r).Results
}

func titles(results []map[string]any) (titles []string) {
	for _, result := range results {
		name, _, _ := strings.Cut(result["title"].(string), " ")
		titles = append(titles, name)
	}
	return titles
}

func find(query string, more ...string) string {
	return "/api/knowledge/search?q=" + url.QueryEscape(query) + strings.Join(more, "")
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.shelve(notes...)
	path := "/api/knowledge/documents/" + ids["Raft"]
	got := read[knowledge.Document](s.get(path))
	if got.ID != ids["Raft"] || got.Title != "Raft in the ledger" || !strings.HasPrefix(got.Content, "The replicas") || !slices.Equal(got.Keywords, []string{"raft", "consensus"}) ||
		*got.TemporalClass != "evergreen" || got.Archived || got.EmbeddingStatus != "complete" || string(got.NamedEntities) != "[]" {
		t.Errorf("the document is %+v", got)
	}
	replaced := s.post("/api/knowledge/documents", map[string]any{"id": strings.ToUpper(ids["Raft"]), "title": "Raft", "content": "New."})
	if written := read[map[string]string](replaced); !reflect.DeepEqual(written, map[string]string{"id": ids["Raft"], "embedding_status": "pending"}) {
		t.Errorf("replacing gives %q", written)
	}
	again := read[knowledge.Document](s.get("/api/knowledge/documents/" + strings.ToUpper(ids["Raft"])))
	if again.Content != "New." || len(again.Keywords) != 2 || *again.TemporalClass != "evergreen" || !again.CreatedAt.Equal(got.CreatedAt) {
		t.Errorf("replaced, the document is %+v", again)
	}
	if s.post("/api/knowledge/documents", map[string]any{"id": "00000000-0000-4000-8000-000000000001", "title": "Own", "content": ""}).want(http.StatusCreated); s.get("/api/knowledge/documents/00000000-0000-4000-8000-000000000001").status != http.StatusOK {
		t.Error("the caller's own request id is not used")
	}
	s.send(http.MethodDelete, path, "").want(http.StatusNoContent)
	s.get(path).want(http.StatusNotFound)
	s.send(http.MethodDelete, path, "").want(http.StatusNotFound)
}

// The older form has exactly these fields.
func TestSearchDocumentsBasic(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.shelve(notes...)
	for _, path := range []string{find("Raft consensus algorithm"), find("Raft consensus algorithm", "&hybrid=false")} {
		r := s.get(path)
		results := list(r)
		if len(results) == 0 || results[0]["id"] != ids["Raft"] {
			t.Fatalf("found %s", r.text)
		}
		first, err := json.Marshal(results[0]["similarity"])
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"results":[{"id":%q,"title":"Raft in the ledger","content":"The replicas of the ledger agree by the Raft consensus algorithm.","similarity":%s}`, ids["Raft"], first)
		if !strings.HasPrefix(r.text, want) {
			t.Errorf("the older form is %s\nand not %s", r.text, want)
		}
		for i, result := range results {
			if len(result) != 4 || i > 0 && result["similarity"].(float64) > results[i-1]["similarity"].(float64) {
				t.Errorf("result %d is %v", i, result)
			}
		}
	}
	if got := s.get(find("Raft consensus algorithm", "&threshold=1")).want(http.StatusOK).text; got != `{"results":[]}` {
		t.Errorf("over a threshold of 1 are %s", got)
	}
	if got := titles(list(s.get(find("Raft consensus algorithm", "&threshold=0&limit=1")))); !slices.Equal(got, []string{"Raft"}) {
		t.Errorf("one is %q", got)
	}
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

// A lost retrieval is logged, and requests do not wait for the tracker.
func TestTrackerLoses(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.database.answer("track_document_retrievals", http.StatusInternalServerError, `{}`)
	s.tracker.Retrieved([]string{"00000000-0000-4000-8000-000000000001"}, "x")
	deadline := time.Now().Add(patience)
	for !strings.Contains(s.log.String(), "not counted") {
		if time.Now().After(deadline) {
			t.Fatal("the loss is not told")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
