package conformance_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/offline"
	"tasklens/scripts/lab/offline/words"
)

// provider stands in for OpenAI under the names of the default models. It records what it is asked,
// and can take its time.
type provider struct {
	offline http.Handler
	slow    atomic.Bool
	mutex   sync.Mutex
	asked   []string // models and requests
}

const (
	embedDelay = 200 * time.Millisecond
	chatDelay  = 600 * time.Millisecond
)

func newProvider() *provider {
	return &provider{offline: offline.NewHandler(offline.WithEmbedder("text-embedding-3-small", handmade))}
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mutex.Lock()
	p.asked = append(p.asked, string(body))
	p.mutex.Unlock()
	if p.slow.Load() {
		time.Sleep(map[bool]time.Duration{true: embedDelay, false: chatDelay}[strings.HasSuffix(r.URL.Path, "/embeddings")])
	}
	body = bytes.ReplaceAll(body, []byte(`"gpt-4o-mini"`), []byte(`"`+offline.ChatModel+`"`))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	p.offline.ServeHTTP(w, r)
}

// since returns the requests from the n-th on.
func (p *provider) since(n int) []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.asked[n:]
}

// handmade gives some texts vectors by which results can be worked out; the others get those of the
// offline model. The cosines are to "alpha".
func handmade(text string) ([]float32, error) {
	vector := make([]float32, words.Dimensions)
	set := func(numbers ...float64) ([]float32, error) {
		for i, x := range numbers {
			vector[i] = float32(x)
		}
		return vector, nil
	}
	switch {
	case text == "alpha":
		return set(1)
	case strings.Contains(text, "Beta"):
		return set(0.9, math.Sqrt(1-0.81))
	case strings.Contains(text, "Gamma"): // 0.72 from Beta
		return set(0.8, 0, 0.6)
	case strings.Contains(text, "Alpha"):
		return set(0, 0, 0, 1)
	}
	return words.Vector(text), nil
}

// specified is the service that all cases ask, with its default settings.
type specified struct {
	stack
	*testing.T
	url   string
	model *provider
	owner *pgx.Conn
}

func (s specified) post(path, body string) reply { return ask(s.T, http.MethodPost, s.url+path, body) }

// settled waits until workers have embedded everything.
func (s specified) settled() {
	s.Helper()
	poll(s.T, "everything is embedded", func() bool {
		status := decode[map[string]any](s.T, ask(s.T, http.MethodGet, s.url+"/api/embeddings/status", ""))
		return status["pending"] == 0.0 && status["running"] == 0.0 && status["sources_without_chunks"] == 0.0
	})
}

// longText has 4,000 words, each of them once, in sentences and paragraphs.
func longText() string {
	var text strings.Builder
	for i := range 500 {
		text.WriteString(strings.Repeat("\n", 2*(i%7/6)))
		for j := range 8 {
			text.WriteString("w" + string(rune('a'+i%26)) + strings.Repeat("x", j) + "é" + string(rune('a'+i/26)) + " ")
		}
		text.WriteString("ends. ")
	}
	return strings.TrimSpace(text.String())
}

func TestSpecifiedService(t *testing.T) {
	t.Parallel()
	model := newProvider()
	s := specified{T: t, model: model, stack: newStack(t, model, nil)}
	s.owner = testbed.Connect(t, s.db.OwnerURL)
	execute(t, s.owner,
		`insert into projects (key, name, description) values ('PHX', 'Phoenix', 'Refactor the legacy authentication module to improve security.'), ('GRK', 'Greek', 'Letters.'), ('LNG', 'Long', 'Texts.')`,
		`insert into status (name) values ('To Do'), ('Done') on conflict do nothing`)
	for _, ticket := range [][4]string{
		{"PHX", "To Do", "Customers cannot log in", "The login page fails after the password is entered."},
		{"PHX", "Done", "Navigation overlaps on mobile", "The navigation bar overlaps the content of the page."},
		{"GRK", "To Do", "Alpha", "The first letter."}, {"GRK", "To Do", "Beta", "It comes after alpha."}, {"GRK", "Done", "Gamma", "The third letter."},
		{"GRK", "To Do", "Beta again", "The second letter, in other words."}, {"LNG", "To Do", "A long text", longText()},
	} {
		if _, err := s.owner.Exec(t.Context(), `insert into tickets (project_id, status_id, name, description)
			select p.project_id, s.status_id, $3, $4 from projects p, status s where p.key = $1 and s.name = $2`, ticket[0], ticket[1], ticket[2], ticket[3]); err != nil {
			t.Fatal(err)
		}
	}
	s.url = s.serve(t, nil)
	s.settled()
	for name, test := range map[string]func(specified){
		"fields": specified.fields, "chunks": specified.chunks, "rank fusion": specified.rankFusion, "filters": specified.filters, "diversity": specified.diversity,
		"threshold": specified.threshold, "models": specified.models, "failures": specified.failures, "limits": specified.limits,
	} {
		t.Run(name, func(t *testing.T) {
			s := s
			s.T = t
			test(s)
		})
	}
	// What changes the data, or the model, comes last.
	for _, test := range []struct {
		name string
		do   func(specified)
	}{{"documents", specified.documents}, {"cache", specified.cache}, {"realtime", specified.realtime}, {"speed", specified.speed}} {
		t.Run(test.name, func(t *testing.T) {
			s := s
			s.T = t
			test.do(s)
		})
	}
}

// like compares a value with a pattern: the same JSON, in which "~type" stands for any value of the
// type. Objects may have further members, and lists further elements.
func like(pattern, value any) bool {
	switch pattern := pattern.(type) {
	case map[string]any:
		object, is := value.(map[string]any)
		for name, want := range pattern {
			got, has := object[name]
			if !is || !has || !like(want, got) {
				return false
			}
		}
		return is
	case []any:
		list, is := value.([]any)
		if !is || len(list) < len(pattern) {
			return false
		}
		for i := range pattern {
			if !like(pattern[i], list[i]) {
				return false
			}
		}
		return true
	case string:
		switch pattern {
		case "~number":
			_, is := value.(float64)
			return is
		case "~bool":
			_, is := value.(bool)
			return is
		case "~string":
			text, is := value.(string)
			return is && text != ""
		case "~uuid":
			text, is := value.(string)
			return is && uuids.MatchString(text)
		}
	}
	return pattern == value
}

// want compares a response with a status and a pattern of JSON.
func (s specified) want(r reply, status int, pattern string) {
	s.Helper()
	var want, got any
	if err := json.Unmarshal([]byte(pattern), &want); err != nil {
		s.Fatal(err)
	}
	if err := json.Unmarshal(r.body, &got); err != nil || r.status != status || !like(want, got) {
		s.Errorf("status %d, want %d\n%s\nis not like\n%s", r.status, status, r.body, pattern)
	}
}

// fields are those of every endpoint's request and response, and the defaults.
func (s specified) fields() {
	for _, c := range []struct {
		ask, body string
		status    int
		like      string
	}{
		{"POST /api/embeddings/generate", `{"project_id":1,"ticket_id":1}`, 200, `{"status":"success","embedding_ids":["~uuid"],"project_id":1,"ticket_id":1,"chunks":1,"embedded":0,"reused":1,"tokens":0,"model":"text-embedding-3-small"}`},
		{"POST /api/embeddings/generate", `{"project_id":1}`, 200, `{"status":"success","embedding_ids":["~uuid"],"ticket_id":null,"chunks":1}`},
		{"POST /api/embeddings/generate", `{"project_id":1,"ticket_id":2,"force":true}`, 200, `{"embedded":1,"reused":0,"tokens":"~number"}`},
		{"POST /api/embeddings/generate", `{"project_id":2,"ticket_id":1}`, 404, `{"status":404,"code":"not_found"}`},
		{"POST /api/embeddings/generate", `{"ticket_id":1}`, 400, `{"status":400,"code":"invalid","errors":[{"field":"project_id","message":"~string"}]}`},
		{"POST /api/query", `{"question":"What does the Phoenix project refactor?"}`, 200, `{"answer":"~string","sources":[{"ticket_id":null,"similarity":"~number","project_id":1,"ticket_key":null,"chunk_id":"~uuid","text":"~string","cited":"~bool"}],
			"low_similarity":"~bool","best_similarity":"~number","match_threshold":"~number","cached":false,"model":"~string"}`},
		{"POST /api/query", `{"question":"Why can customers not log in?","project_id":1,"status_filter":"to do","top_k":1,"match_threshold":0.1,"mmr_lambda":0.5}`, 200,
			`{"sources":[{"ticket_id":1,"similarity":"~number","ticket_name":"Customers cannot log in"}],"low_similarity":false}`},
		{"POST /api/query", `{}`, 400, `{"errors":[{"field":"question","message":"~string"}]}`},
		{"POST /api/query", `not JSON`, 400, `{"status":400,"title":"~string","detail":"~string","request_id":"~string"}`},
		{"POST /api/hybrid-search", `{"query":"customers log in","match_threshold":0.1}`, 200, `{"results":[{"ticket_id":1,"text":"~string","similarity":"~number","source":"vector","rrf_score":"~number",
			"project_id":1,"project_name":"Phoenix","ticket_key":"~string","ticket_name":"Customers cannot log in","status":"To Do","vector_rank":1,"keyword_rank":1,"matched_by":["vector","keyword"],"highlight":"~string"}],
			"has_more":false,"match_threshold":0.1,"cached":"~bool","executed":["vector","keyword"]}`},
		{"POST /api/hybrid-search", `{"query":"overlaps","match_threshold":1}`, 200, `{"results":[{"ticket_id":2,"source":"keyword","rrf_score":"~number"}]}`},
		{"POST /api/hybrid-search", `{"query":"letter","limit":1,"explain":true,"facets":true,"match_threshold":1}`, 200, `{"results":[{"explain":{"keyword":{"rank":1,"score":"~number","contribution":"~number"}}}],"has_more":true,
			"facets":{"status":[{"value":"~number","label":"~string","count":"~number"}],"project":[{"value":2,"label":"Greek","count":4}]}}`},
		{"POST /api/hybrid-search", `{"query":""}`, 400, `{"errors":[{"field":"query","message":"~string"}]}`},
		{"GET /api/tickets/1/similar?limit=2", ``, 200, `{"results":[{"ticket_id":"~number","ticket_key":"~string","similarity":"~number","likely_duplicate":"~bool","project_id":"~number","status":"~string"}]}`},
		{"POST /api/tickets/similar", `{"text":"Customers cannot log in"}`, 200, `{"results":[{"ticket_id":1,"duplicate_score":"~number","fused_score":"~number"}]}`},
		{"GET /api/projects", ``, 200, `{"results":[{"project_id":2,"key":"GRK","name":"Greek","tickets":4}]}`},
		{"GET /api/statuses", ``, 200, `{"results":[{"status_id":1,"name":"To Do"},{"status_id":2,"name":"Done"}]}`},
		{"GET /api/knowledge/enrich/stats", ``, 200, `{"total":0,"enriched":0,"unenriched":0,"failed":0}`},
		{"GET /api/knowledge/search?q=raft", ``, 200, `{"results":[]}`},
		{"GET /api/knowledge/entities/raft", ``, 200, `{"results":[]}`},
		{"GET /healthz", ``, 200, `{"status":"ok"}`}, {"GET /readyz", ``, 200, `{"status":"ready"}`},
		{"GET /openapi.json", ``, 200, `{"paths":{"/api/embeddings/generate":{"post":{}},"/api/query":{"post":{}},"/api/hybrid-search":{"post":{}}}}`},
		{"GET /nothing", ``, 404, `{"code":"path_not_found"}`}, {"GET /api/query", ``, 405, `{"code":"method_not_allowed"}`},
	} {
		method, path, _ := strings.Cut(c.ask, " ")
		s.Run(c.ask+" "+c.body, func(t *testing.T) {
			s := s
			s.T = t
			s.want(ask(t, method, s.url+path, c.body), c.status, c.like)
		})
	}
}
