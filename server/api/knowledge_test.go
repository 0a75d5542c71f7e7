package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
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

func TestSearchDocumentsHybrid(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.shelve(notes...)
	search := func() map[string]map[string]any {
		results := list(s.get(find("How does the Raft algorithm work?", "&hybrid=true&threshold=0&track=false")))
		byID := map[string]map[string]any{}
		for i, result := range results {
			number := func(name string) float64 { return result[name].(float64) }
			sum := (0.5*number("similarity") + 0.25*number("keyword_score") + 0.15*number("utility_boost") + 0.1*number("freshness_boost")) * number("temporal_weight")
			if math.Abs(sum-number("final_score")) > 1e-9 || len(result) != 11 || result["keywords"] == nil {
				t.Errorf("%v: its parts make %v", result, sum)
			}
			if i > 0 && number("final_score") > results[i-1]["final_score"].(float64) {
				t.Errorf("result %d is out of order", i)
			}
			byID[result["id"].(string)] = result
		}
		return byID
	}
	got := search()
	// It contains one of "raft", "algorithm" and "work".
	if score := got[ids["Raft"]]["keyword_score"].(float64); math.Abs(score-1.0/3) > 1e-9 {
		t.Errorf("the keyword score is %v", score)
	}
	if weight := got[ids["Paxos"]]["temporal_weight"].(float64); weight != 0.5 {
		t.Errorf("what is historical weighs %v", weight)
	}
	s.post("/api/knowledge/documents/"+ids["Raft"]+"/feedback", map[string]any{"helpful": true}).want(http.StatusNoContent)
	if boost := search()[ids["Raft"]]["utility_boost"].(float64); math.Abs(boost-math.Log(1.5)/math.Log(11)) > 1e-9 {
		t.Errorf("after one vote the boost is %v", boost)
	}
	s.post("/api/knowledge/documents", map[string]any{"id": ids["Raft"], "title": "Raft in the ledger", "content": notes[0]["content"], "archived": true}).want(http.StatusOK)
	if _, is := search()[ids["Raft"]]; is {
		t.Error("what is archived is found")
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

func TestSimilarDocuments(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.shelve(notes...)
	path := "/api/knowledge/documents/" + ids["Raft"] + "/similar"
	results := list(s.get(path))
	if got := titles(results); len(got) != 3 || got[0] != "Paxos" || len(results[0]) != 3 {
		t.Errorf("like Raft are %v", results)
	}
	if got := list(s.get(path + "?limit=1")); len(got) != 1 {
		t.Errorf("one like Raft is %v", got)
	}
	s.get("/api/knowledge/documents/00000000-0000-4000-8000-000000000001/similar").want(http.StatusNotFound)
	fresh := s.post("/api/knowledge/documents", map[string]any{"id": "00000000-0000-4000-8000-000000000001", "title": "New", "content": "x"}).want(http.StatusCreated)
	if got := s.get("/api/knowledge/documents/00000000-0000-4000-8000-000000000001/similar").want(http.StatusOK).text; got != `{"results":[]}` {
		t.Errorf("like what is not embedded (%s) are %s", fresh.text, got)
	}
}

func TestDocumentsByEntity(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.shelve(notes...)
	run(t, s.connect(), `update public.documents set named_entities = '[{"name": "Raft 100%", "type": "Protocol"}, {"name": "A/B", "type": "team"}]' where id = $1`, ids["Raft"])
	for path, want := range map[string]string{
		"raft":                    "Raft 100%",
		"Raft%20100%25":           "Raft 100%",
		"raft?type=protocol":      "Raft 100%",
		"raft?type=team":          "",
		"%25%25":                  "",
		"a%2Fb?type=TEAM&limit=1": "A/B",
		"nobody":                  "",
		"_":                       "",
	} {
		r := s.get("/api/knowledge/entities/" + path)
		if want == "400" {
			r.want(http.StatusBadRequest)
			continue
		}
		got := ""
		for _, result := range list(r) {
			got += fmt.Sprint(result["matched_entity"])
			if result["id"] != ids["Raft"] || result["title"] != "Raft in the ledger" || result["matched_type"] == "" || len(result) != 4 {
				t.Errorf("%s: %v", path, result)
			}
		}
		if got != want {
			t.Errorf("%s names %q, not %q", path, got, want)
		}
	}
}

func TestInvalidDocumentRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/api/knowledge/documents"
	long := strings.Repeat("x", 501)
	for body, field := range map[string]string{
		`{"content": "x"}`:                                                                    "title",
		`{"title": "x"}`:                                                                      "content",
		`{"title": " ", "content": "x"}`:                                                      "title",
		`{"title": "` + long + `", "content": "x"}`:                                           "title",
		`{"title": "x", "content": "x", "id": "5"}`:                                           "id",
		`{"title": "x", "content": "x", "keywords": "x"}`:                                     "keywords",
		`{"title": "x", "content": "x", "keywords": [""]}`:                                    "keywords",
		`{"title": "x", "content": "x", "keywords": [null]}`:                                  "keywords",
		`{"title": "x", "content": "x", "keywords": ["\u0000"]}`:                              "keywords[0]",
		`{"title": "x", "content": "x", "keywords": [` + strings.Repeat(`"k",`, 50) + `"k"]}`: "keywords",
		`{"title": "x", "content": "x", "temporal_class": "current, dated"}`:                  "temporal_class",
		`{"title": "x", "content": "x", "archived": 1}`:                                       "archived",
		`{"title": "x", "content": "x", "created_at": "2026-01-01"}`:                          "created_at",
	} {
		s.refuse(path, invalid{name: body, body: body, fields: []string{field}, beyond: strings.Contains(body, "u0000")})
	}
	id := "00000000-0000-4000-8000-000000000001"
	for _, body := range []string{`{}`, `{"helpful": 1}`} {
		s.refuse(path+"/"+id+"/feedback", invalid{body: body, fields: []string{"helpful"}})
	}
	s.post(path+"/"+id+"/feedback", map[string]any{"helpful": true}).want(http.StatusNotFound)
	for bad, field := range map[string]string{
		"documents/5": "id", "documents/{" + id + "}": "id", "documents/urn:uuid:" + id: "id", "documents/" + id + "?x=1": "x", "documents/5/similar": "id",
		"documents/" + id + "/similar?limit=101": "limit", "search": "q", "search?q=%20": "q", "search?q=a&q=b": "q", "search?q=%00": "q", "search?q=%ff": "q",
		"search?q=a&hybrid=1": "hybrid", "search?q=a&limit=0": "limit", "search?q=a&threshold=1.1": "threshold",
		"search?q=a&threshold=NaN": "threshold", "search?q=a&threshold=0x1p-2": "threshold", "search?q=a&offset=1": "offset",
		"search?q=" + strings.Repeat("a", 2001): "q", "entities/%20": "name", "entities/%00": "name", "entities/%ff": "name", "entities/a?limit=x": "limit",
	} {
		p := s.get("/api/knowledge/" + bad).want(http.StatusBadRequest).problem()
		if len(p.Errors) == 0 || p.Errors[0].Field != field {
			t.Errorf("%.60s: %+v", bad, p)
		}
	}
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
