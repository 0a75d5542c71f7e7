package api_test

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tasklens/internal/testbed"
	"tasklens/server/api"
	"tasklens/server/observe"
)

// unreachable is an address with no listener.
func unreachable(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

// numbers is a response of the model with this many vectors of this length.
func numbers(vectors, length int, value string) string {
	items := make([]string, vectors)
	for i := range items {
		items[i] = fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%s]}`, i, strings.TrimSuffix(strings.Repeat(value+",", length), ","))
	}
	return `{"object":"list","data":[` + strings.Join(items, ",") + `],"usage":{"total_tokens":1}}`
}

func said(code string) string {
	return `{"error":{"message":"` + upstreamText + `","type":"` + code + `","code":"` + code + `"}}`
}

func TestModelFailures(t *testing.T) {
	t.Parallel()
	s := startTracker(t, forgetful, func(c *setup) { c.threshold, c.attemptTimeout = 0, 500*time.Millisecond })
	generate := map[string]any{"project_id": s.ids["TX"], "ticket_id": s.ids["TX-400"], "force": true}
	s.load(nil, []ticket{{Key: "TX-404", Project: "TX", Name: "Charged twice"}}) // not embedded
	before := s.chunks(s.connect(), "TX-400")
	for name, c := range map[string]struct {
		status  int
		body    string
		headers []string
		want    int
		retry   string
	}{
		"limit":                     {429, said("rate_limit_exceeded"), []string{"Retry-After", "7"}, 503, "7"},
		"limit, who knows till":     {429, said("rate_limit_exceeded"), nil, 503, "10"},
		"quota":                     {429, said("insufficient_quota"), []string{"Retry-After", "7"}, 503, "7"},
		"bad key, repeated":         {401, `{"error":{"message":"no such key: ` + modelKey + `","code":"` + modelKey + `"}}`, nil, 502, ""},
		"failure":                   {500, said("server_error"), nil, 502, ""},
		"silence":                   {0, "", nil, 504, ""},
		"redirect":                  {302, "", []string{"Location", "/elsewhere"}, 502, ""},
		"null":                      {200, "null", nil, 502, ""},
		"embeddings: too long":      {200, numbers(1, 1537, "0.1"), nil, 502, ""},
		"embeddings: other's place": {200, strings.Replace(numbers(1, 3, "1"), `"index":0`, `"index":5`, 1), nil, 502, ""},
	} {
		routes := map[string]*response{}
		fail := func(act string) {
			if c.status == 0 {
				s.model.hang(act)
				return
			}
			s.model.answer(act, c.status, c.body, c.headers...)
		}
		fail("embeddings")
		routes["generate"] = s.post("/api/embeddings/generate", generate)
		routes["query"] = s.post("/api/query", map[string]any{"question": "why"})
		routes["stream"] = s.post("/api/query", map[string]any{"question": "why", "stream": true}) // before its first event
		routes["draft"] = s.post("/api/tickets/similar", map[string]any{"text": "why"})
		routes["ticket"] = s.get(fmt.Sprintf("/api/tickets/%d/similar", s.ids["TX-404"]))
		if keys := s.similar("TX-400", "?limit=1").keys(); len(keys) != 1 {
			t.Errorf("%s: like an embedded ticket are %q", name, keys)
		}
		found := s.search("payment TX-400") // by words, which it says
		if !slices.Equal(found.Executed, []string{"keyword"}) || !slices.Equal(found.Degraded, []string{"vector"}) || len(found.Results) < 3 || found.Results[0].name() != "TX-400" || found.Results[0].Similarity != nil {
			t.Errorf("%s: a search is %+v", name, found)
		}
		if !strings.HasPrefix(name, "embeddings") {
			fail("completions")
			routes["query, at the answer"] = s.post("/api/query", map[string]any{"question": "why"})
			names, _, last := s.openStream("why", nil).rest()
			if failure := decoded[problem](t, last); !slices.Equal(names, []string{"sources", "error"}) || failure.Status != c.want {
				t.Errorf("%s, at the answer: the stream is %q, %+v", name, names, last)
			}
		}
		for route, r := range routes {
			if r.status != c.want || r.header.Get("Retry-After") != c.retry {
				t.Errorf("%s, %s: %d, Retry-After %q: %s", name, route, r.status, r.header.Get("Retry-After"), r.text)
			}
		}
	}
	if after := s.chunks(s.connect(), "TX-400"); !slices.Equal(before, after) {
		t.Errorf("failures have changed the stored chunks from %+v to %+v", before, after)
	}
	if !strings.Contains(s.log.String(), upstreamText) {
		t.Error("the model provider's error is not in the log")
	}
	if !strings.Contains(s.log.String(), "answered 401 …: no such key: …") { // the service's cleanup checks that the log contains no key
		t.Error("the model provider's error about the key is not in the log")
	}
}

// Callers, the readiness and the status say that the provider's account is empty, or that it
// refuses the key, without its words, until it works again.
func TestEmptyAccount(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		said, want int
		missing    string
	}{
		"model_quota": {402, 503, "The model provider's quota is used up."}, "model_key": {401, 502, "The model provider refuses the key."},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := startTracker(t, forgetful, func(c *setup) {
				c.more = func(parts *api.Parts) {
					parts.Observer = observe.New()
					parts.Observer.Queue(parts.Database.AsService(), parts.EmbeddingModel)
				}
			})
			s.model.answer("embeddings", c.said, said("no"))
			for range 3 {
				r := s.post("/api/query", map[string]any{"question": "why"}).want(c.want)
				if failure := decoded[problem](t, event{data: r.text}); failure.Code != code || failure.Detail != c.missing {
					t.Errorf("the problem is %+v", failure)
				}
			}
			run(t, s.connect(), `insert into tasklens.embedding_jobs (source_id, background, last_error, due_at) select source_id, true, $1, now() + interval '1 hour' from tasklens.sources limit 1`, code)
			if status := s.get("/api/embeddings/status").want(http.StatusOK).text; !strings.Contains(status, `"blocked_by":"`+code+`"`) {
				t.Errorf("the status is %s", status)
			}
			s.model.intercept(nil)
			s.post("/api/query", map[string]any{"question": "why"}).want(http.StatusOK)
			if ready := s.get("/readyz").want(http.StatusOK).text; !strings.Contains(ready, `"blocked_by":"`+code+`"`) {
				t.Errorf("the readiness is %s", ready)
			}
		})
	}
}

// Without a database, or with an empty one, every request that needs it says so, and nothing is
// embedded for what it would have to find. Readiness says what is missing.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	for missing, change := range map[string]func(*setup){
		`["database"]`: func(c *setup) { c.restURL = unreachable(t) },
		`["migration 20261127000100_extensions.sql",`: func(c *setup) { c.database = testbed.Empty },
	} {
		s := start(t, change)
		for _, route := range routes {
			if route.path != "/mcp" { // whose errors are results
				s.send(route.method, route.path, route.body).want(http.StatusServiceUnavailable)
			}
		}
		if embedded := s.model.inputs(t); len(embedded) > 0 {
			t.Errorf("%s: embedded were %q", missing, embedded)
		}
		if text := s.get("/readyz").want(http.StatusServiceUnavailable).text; !strings.Contains(text, `"missing":`+missing) {
			t.Errorf("readyz says %s", text)
		}
		s.get("/healthz").want(http.StatusOK)
		s.get("/openapi.yaml").want(http.StatusOK)
	}
}

func TestDatabaseFailures(t *testing.T) {
	t.Parallel()
	s := start(t)
	told := func(code string) string {
		return `{"code":"` + code + `","message":"` + upstreamText + ` relation \"public.secrets\"","details":"` + upstreamText + `","hint":null}`
	}
	for name, c := range map[string]struct {
		status int
		body   string
		want   int
	}{
		"no connection":          {503, told("PGRST000"), 503},
		"statement timeout":      {500, told("57014"), 504},
		"another server":         {404, "<html>" + upstreamText, 503},
		"redirect":               {302, "", 503},
		"raised":                 {400, told("P0001"), 500},
		"result that is no JSON": {200, upstreamText, 500},
		"result of another form": {200, `{"a":"` + upstreamText + `"}`, 500},
		"key refused":            {401, told("PGRST301"), 503},
	} {
		for _, route := range routes {
			if route.function == "" {
				continue
			}
			s.database.answer(route.function, c.status, c.body, "Location", "/elsewhere")
			if r := s.send(route.method, route.path, route.body); r.status != c.want {
				t.Errorf("%s, %s: %d, not %d: %s", name, route.path, r.status, c.want, r.text)
			}
		}
	}
	if elsewhere := s.database.requests("elsewhere"); len(elsewhere) > 0 {
		t.Error("a redirect was followed")
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	s := start(t)
	if text := s.get("/healthz").want(http.StatusOK).text; text != `{"status":"ok"}` {
		t.Errorf("healthz says %s", text)
	}
	if text := s.get("/readyz").want(http.StatusOK).text; text != `{"status":"ready"}` {
		t.Errorf("readyz says %s", text)
	}
	older := `{"code":"42883","details":null,"hint":null,"message":"function public.%s() does not exist"}`
	s.database.answer("list_migrations", http.StatusNotFound, fmt.Sprintf(older, "list_migrations"))
	if text := s.get("/readyz").want(http.StatusServiceUnavailable).text; text != `{"missing":["schema cache of PostgREST"],"status":"not ready"}` {
		t.Errorf("readyz says %s", text)
	}
	s.database.intercept(nil)
	s.database.answer("list_projects", http.StatusNotFound, fmt.Sprintf(older, "list_projects"))
	if p := s.get("/api/projects").want(http.StatusServiceUnavailable).problem(); p.Code != "unavailable" || p.Detail != "The database is not ready: its functions have changed." || !strings.Contains(s.log.String(), "schema cache is older") {
		t.Errorf("a function that is gone: %+v", p)
	}
	s.database.intercept(nil)
	db := s.connect()
	run(t, db, "insert into tasklens.migrations (version) values ('20990101000000')") // a newer migration
	s.get("/readyz").want(http.StatusOK)
	if log := s.log.String(); !strings.Contains(log, "20990101000000") || !strings.Contains(log, "newer version of the program") {
		t.Errorf("the log does not say that the database is newer: %s", log)
	}
	run(t, db, "delete from tasklens.migrations where version in ('20261127000560', '20261127001240')")
	if text := s.get("/readyz").want(http.StatusServiceUnavailable).text; text !=
		`{"missing":["migration 20261127000560_keyword_search.sql","migration 20261127001240_store_chunks.sql"],"status":"not ready"}` {
		t.Errorf("readyz says %s", text)
	}
	run(t, db, "insert into tasklens.migrations (version) values ('20200101000000')")
	if text := s.get("/readyz").want(http.StatusServiceUnavailable).text; text != `{"missing":["database made before 0.1.0"],"status":"not ready"}` {
		t.Errorf("readyz says %s", text)
	}
}

// While the database stands still, every request that needs it says so, and the log says it once.
func TestDatabaseStandsStill(t *testing.T) {
	t.Parallel()
	s := start(t, logging, func(c *setup) { c.requestTimeout, c.logLevel = 300*time.Millisecond, slog.LevelInfo })
	s.database.intercept(func(_ http.ResponseWriter, r *http.Request, _ string, _ []byte) bool {
		<-r.Context().Done()
		return true
	})
	// Repeated, because the time may end in another call.
	for i, route := range slices.Concat(routes, routes) {
		if route.path == "/mcp" {
			continue
		}
		id := fmt.Sprint("standstill-", i)
		body := strings.ReplaceAll(route.body, "why", id) // not in the cache of embeddings
		r := s.send(route.method, route.path, body, "X-Request-Id", id).want(http.StatusGatewayTimeout)
		if detail := r.problem().Detail; detail != "The database did not answer in time." {
			t.Errorf("%s: %s", route.path, detail)
		}
		if lines := strings.Count(s.log.String(), `"request_id":"`+id+`"`); lines != 1 {
			t.Errorf("%s: %d lines in the log", route.path, lines)
		}
	}
}

// A panic becomes an internal error for the client, and the service keeps running.
func TestPanic(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.more = func(parts *api.Parts) { parts.Answerer = nil } })
	for _, stream := range []bool{false, true} {
		s.post("/api/query", map[string]any{"question": "why", "stream": stream}).want(http.StatusInternalServerError)
	}
	s.get("/healthz").want(http.StatusOK)
	if !strings.Contains(s.log.String(), "panic: runtime error") {
		t.Error("the panic is not in the log")
	}
}
