package api_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/enrich"
	"tasklens/internal/identity"
	"tasklens/internal/index"
	"tasklens/internal/memo"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/querylog"
	"tasklens/internal/search"
	"tasklens/internal/testbed"
	"tasklens/internal/tokenizer"
	"tasklens/scripts/lab/offline"
	"tasklens/server/api"
	"tasklens/server/api/apitest"
	"tasklens/supabase"
)

// modelKey is the service's key for the model provider; it must not appear anywhere else.
const modelKey = "sk-the-key-of-the-model-provider"

// setup is what a test changes from the defaults.
type setup struct {
	database       func(testing.TB) *testbed.DB
	threshold      float64
	fusion         string
	heartbeat      time.Duration
	requestTimeout time.Duration
	attemptTimeout time.Duration
	restURL        string // empty: the database's own
	cacheBytes     uint64 // 0: 16 MiB
	forgetful      bool
	log            bool       // keep a query log
	logLevel       slog.Level // default: debug
	more           func(*api.Parts)
	verifier       func(*service, identity.Options) *identity.Verifier // nil: AUTH=off
	limits         api.Limits
}

// tally counts responses by kind and origin.
type tally struct {
	mutex  sync.Mutex
	counts map[string]map[memo.Origin]int
}

func (c *tally) count(kind string, origin memo.Origin) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.counts == nil {
		c.counts = map[string]map[memo.Origin]int{}
	}
	if c.counts[kind] == nil {
		c.counts[kind] = map[memo.Origin]int{}
	}
	c.counts[kind][origin]++
}

func (c *tally) of(kind string, origin memo.Origin) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.counts[kind][origin]
}

// embed does the worker's part of some sources.
func (s *service) embed(sources ...index.Source) {
	s.t.Helper()
	for _, source := range sources {
		if _, err := s.indexer.Index(s.t.Context(), s.rows, source, false); err != nil {
			s.t.Fatal(err)
		}
	}
}

// forgetful disables the cache, for tests that repeat a request and expect a new result.
func forgetful(c *setup) { c.forgetful = true }

// service is a running service with its own database and upstreams that record requests and can
// fail.
type service struct {
	t        testing.TB
	url      string
	client   *http.Client
	db       *testbed.DB
	secret   []byte
	database *upstream
	model    *upstream
	rows     *postgrest.Session // the database as the service sees it, bypassing the recording upstream
	log      *journal
	queries  *querylog.Backlog[querylog.Entry]
	indexer  *index.Indexer
	cached   *tally
	stop     func(drain time.Duration) error
	ids      map[string]int64 // of projects and tickets, by key
}

// between is a threshold above the offline model's cosines of unrelated texts and below those of a
// question and its answer.
const between = 0.29

// start runs a service until the test ends.
func start(t testing.TB, changes ...func(*setup)) *service {
	t.Helper()
	want := setup{
		database: testbed.Database, threshold: between,
		logLevel: slog.LevelDebug, requestTimeout: 60 * time.Second, attemptTimeout: 60 * time.Second,
		limits: api.Limits{HeaderTimeout: 15 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 90 * time.Second},
	}
	for _, change := range changes {
		change(&want)
	}
	s := &service{t: t, log: &journal{}, cached: &tally{}, ids: map[string]int64{}}
	s.client = &http.Client{Timeout: 90 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	s.db = want.database(t)
	restURL, secret := testbed.REST(t, s.db)
	s.secret = secret
	s.database, s.model = watchDatabase(t, restURL), watchModel(t)
	key := s.token("service_role")
	s.rows = postgrest.New(restURL, key, testbed.Schema()).AsService()

	model := openai.New(openai.Config{
		ThinksApart: true, // as of OpenAI: an answer is a stream from the first on
		BaseURL:     s.model.url + "/v1", APIKey: modelKey, EmbeddingModel: offline.EmbeddingModel, ChatModel: offline.ChatModel,
		AttemptTimeout: want.attemptTimeout,
	})
	log := slog.New(api.WithRequest(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: want.logLevel})))
	store := memo.NewMemory(cmp.Or(want.cacheBytes, 16<<20))
	var remembered *memo.Memo
	embeddings := memo.NewEmbeddings(model, nil, nil)
	if !want.forgetful {
		embeddings = memo.NewEmbeddings(model, store, s.cached.count)
		remembered = memo.New(store, time.Hour, s.cached.count)
	}
	parts := api.Parts{
		Memo: remembered, Embeddings: embeddings,
		Database:     postgrest.New(cmp.Or(want.restURL, s.database.url), key, testbed.Schema()),
		Indexer:      index.New(model, tokenizer.Load()),
		OpenCircuits: model.OpenCircuits,
		Searcher: search.New(search.Weights{Vector: 1, Keyword: 1}, func(ctx context.Context, message string, err error) {
			log.WarnContext(ctx, message, "error", err)
		}),
		Comparer: search.NewComparer(model, tokenizer.Load()),
		Enricher: enrich.New(model, enrich.Options{PerMinute: 100_000}),
		Answerer: answer.New(model, answer.Options{}), Migrations: supabase.Migrations(), Log: log, Limits: want.limits, Console: consoleOf(t),
		EmbeddingModel: offline.EmbeddingModel, MatchThreshold: &want.threshold, Fusion: want.fusion, RequestTimeout: want.requestTimeout, Heartbeat: want.heartbeat,
	}
	if want.log {
		s.queries = querylog.New(parts.Database.AsService(), 1, func(int64, error) {})
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			s.queries.Close(ctx)
		})
	}
	parts.QueryLog = s.queries
	if want.verifier != nil {
		parts.Verifier = want.verifier(s, identity.Options{ServiceKey: key})
	}
	s.indexer = parts.Indexer
	if want.more != nil {
		want.more(&parts)
	}
	app, err := api.New(parts)
	if err != nil {
		t.Fatal(err)
	}
	s.url, s.stop = apitest.Serve(t, app)
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		if err := s.stop(10 * time.Second); err != nil {
			t.Errorf("stop the service: %v", err)
		}
		for _, secret := range []string{key, modelKey, string(secret)} {
			if strings.Contains(s.log.String(), secret) {
				t.Error("a secret stands in the log")
			}
		}
		if t.Failed() {
			t.Logf("the service's log:\n%s", s.log)
		}
	})
	return s
}

// token returns an access token for a role, valid for an hour.
func (s *service) token(role string) string {
	s.t.Helper()
	return testbed.Token(s.t, s.secret, role)
}

// response is a response that was read and checked against the OpenAPI document.
type response struct {
	t      testing.TB
	status int
	header http.Header
	text   string
}

// send makes a request and checks the response. headers are pairs; a body is sent as JSON. It is
// safe for concurrent use; a request that fails has status 0.
func (s *service) send(method, path, body string, headers ...string) *response {
	s.t.Helper()
	request, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
		return &response{t: s.t}
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return s.do(request, body)
}

// do sends a request with this body and checks the response.
func (s *service) do(request *http.Request, body string) *response {
	s.t.Helper()
	method, path := request.Method, request.URL.Path
	answer, err := s.client.Do(request)
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
		return &response{t: s.t}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Errorf("%s %s: read the answer: %v", method, path, err)
	}
	r := &response{t: s.t, status: answer.StatusCode, header: answer.Header, text: string(text)}
	r.checkDocumented(request, body)
	r.checkProblem(path)
	return r
}

func (s *service) get(path string, headers ...string) *response {
	s.t.Helper()
	return s.send(http.MethodGet, path, "", headers...)
}

// post sends a JSON object.
func (s *service) post(path string, body map[string]any, headers ...string) *response {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Errorf("POST %s: %v", path, err)
	}
	return s.send(http.MethodPost, path, string(text), headers...)
}

// want checks the status.
func (r *response) want(status int) *response {
	r.t.Helper()
	if r.status != status {
		r.t.Errorf("status is %d, not %d: %s", r.status, status, r.text)
	}
	return r
}

// read decodes the body of a successful response.
func read[T any](r *response) (body T) {
	r.t.Helper()
	r.want(http.StatusOK)
	if err := json.Unmarshal([]byte(r.text), &body); err != nil {
		r.t.Errorf("decode %q: %v", r.text, err)
	}
	return body
}

// journal is a log that can be read while it is written.
type journal struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.text.String()
}
