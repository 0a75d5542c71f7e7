package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/answer"
	"tasklens/internal/cache"
	"tasklens/internal/memo"
	"tasklens/internal/metric"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/worker"
)

// emptyDatabase returns no rows for every call. It sends each call as the function, a blank and the
// arguments.
func emptyDatabase(t *testing.T) (url string, called <-chan string) {
	t.Helper()
	calls := make(chan string, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] + " " + string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[]")
	}))
	t.Cleanup(server.Close)
	return server.URL, calls
}

func TestTheQueryLogsSettings(t *testing.T) {
	t.Parallel()
	url, called := emptyDatabase(t)
	db := postgrest.New(url, "key")
	if newQueryLog(Config{}, db, observer{}) != nil {
		t.Error("a query log was created")
	}
	log := newQueryLog(Config{QueryLogRetention: 7}, db, observer{})
	defer log.Close(t.Context())
	if got := <-called; !strings.HasPrefix(got, "log_queries ") || !strings.Contains(got, `"retention_days":7`) {
		t.Errorf("the log calls %s", got)
	}
}

// The settings reach the parts that use them.
func TestSettingsReachTheirParts(t *testing.T) {
	t.Parallel()
	c := Config{
		OpenAIBaseURL: "http://model/v1", OpenAIKey: "k", EmbeddingModel: "e", EmbeddingDimensions: 1, ChatModel: "c", ModelTimeout: 2,
		WorkerConcurrency: 4, WorkerAttempts: 7, VectorWeight: 10, KeywordWeight: 11, Fusion: "12",
	}
	for _, part := range []struct{ got, want any }{
		{modelConfig(c), openai.Config{BaseURL: "http://model/v1", APIKey: "k", EmbeddingModel: "e", Dimensions: 1, ChatModel: "c", AttemptTimeout: 2, MaxRetries: 2,
			CircuitFailures: 5, CircuitPause: 5 * time.Second}},
		{workerOptions(c, nil), worker.Options{Concurrency: 4, Batch: 100, Lease: time.Minute, Attempts: 7, Poll: 1250 * time.Millisecond}},
		{answerOptions(c), answer.Options{VectorWeight: 10, KeywordWeight: 11, Fusion: "12"}},
	} {
		if diff := cmp.Diff(part.want, part.got); diff != "" {
			t.Error(diff)
		}
	}
}

// versionReader counts the reads of the data version.
type versionReader int

func (v *versionReader) Call(_ context.Context, _ string, _, result any) error {
	*v++
	*result.(*string) = "the same"
	return nil
}

func TestTheCachesSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config     Config
		read, made int // in two identical requests
	}{
		"on":  {Config{Cache: "on"}, 2, 1},
		"off": {Config{Cache: "off"}, 0, 2},
	} {
		m, err := newMemory(c.config, newModel(c.config), observer{log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		var read versionReader
		made := 0
		for range 2 {
			if _, _, err := m.results.Do(t.Context(), &read, memo.Request{}, func(context.Context) (memo.Made, error) {
				made++
				return memo.Made{Keep: []byte("made")}, nil
			}); err != nil {
				t.Error(err)
			}
		}
		if int(read) != c.read || made != c.made {
			t.Errorf("%s: the version was read %d times, the result computed %d times", name, read, made)
		}
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}
	config := Config{Cache: "on", RedisURL: "redis://127.0.0.1:1"}
	m, err := newMemory(config, newModel(config), observer{log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, is := m.store.(*cache.Redis); !is {
		t.Errorf("with REDIS_URL the store is a %T", m.store)
	}
	_ = m.close()
}

// statusRow returns a status in which every number is different.
type statusRow struct{}

func (statusRow) Call(_ context.Context, _ string, _, result any) error {
	return json.Unmarshal([]byte(`[{"pending":1,"running":2,"failed":3,"dead":4,"oldest_pending_seconds":5,"chunks":6,"sources_without_chunks":7}]`), result)
}

// Each field of the embedding status has its metric.
func TestQueueMetrics(t *testing.T) {
	t.Parallel()
	o := observer{metrics: metric.New()}
	o.watchQueue(statusRow{}, "m")
	recorder := httptest.NewRecorder()
	o.metrics.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`tasklens_queue_sources{state="pending"} 1`, `tasklens_queue_sources{state="running"} 2`, `tasklens_queue_sources{state="failed"} 3`,
		`tasklens_queue_sources{state="dead"} 4`, "tasklens_queue_oldest_pending_seconds 5", "tasklens_chunks 6", "tasklens_sources_without_chunks 7",
	} {
		if !strings.Contains(recorder.Body.String(), "\n"+line+"\n") {
			t.Errorf("%s is missing from the metrics", line)
		}
	}
}

// A service runs a worker unless it is turned off.
func TestWorkerSetting(t *testing.T) {
	for setting, works := range map[string]bool{"on": true, "off": false} {
		t.Run(setting, func(t *testing.T) {
			database, called := emptyDatabase(t)
			address := freePort(t)
			_, port, _ := net.SplitHostPort(address)
			stop := run(t, serve, map[string]string{"SUPABASE_URL": database, "SUPABASE_REST_URL": database, "SUPABASE_SECRET_KEY": "k", "OPENAI_API_KEY": "k",
				"PORT": port, "QUERY_LOG_RETENTION": "0", "WORKER": setting})
			fetch(t, http.MethodGet, "http://"+address+"/api/projects", "", http.StatusOK)
			if works {
				for !strings.HasPrefix(<-called, "claim_embedding_jobs ") {
				}
				return
			}
			stop()
			for len(called) > 0 {
				if call := <-called; strings.HasPrefix(call, "claim_embedding_jobs ") {
					t.Errorf("with WORKER=off the service calls %s", call)
				}
			}
		})
	}
}
