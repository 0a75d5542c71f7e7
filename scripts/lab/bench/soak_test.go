package bench_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/testbed"
	"tasklens/internal/worker"
	"tasklens/scripts/lab/bench"
	"tasklens/server/api/apitest"
	"tasklens/server/observe"
)

func TestSoak(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	run := connect(t, database)
	service := apitest.Start(t, database, bench.NewModel(bench.Delays{}))
	address, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", httputil.NewSingleHostReverseProxy(address))
	mux.Handle("/metrics", observe.New().Handler())
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	s := &bench.Soak{
		Connection: run.Connection, DatabaseURL: database.OwnerURL, Collection: bench.WithChunks(1200), Service: front.URL,
		Salt: 1 << 30, Lasting: 6 * time.Second, Rate: 10, Queries: 12, Progress: func(string) {},
	}
	// As in scripts/bench, before a worker runs.
	run.Collection = s.Collection
	if _, err := run.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { worker.New(service.Database, service.Indexer, worker.Options{}).Run(ctx) })
	t.Cleanup(func() { stop(); working.Wait() })
	var out strings.Builder
	broken, err := s.Do(ctx, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, bound := range broken { // which others are kept depends on what else runs
		if strings.Contains(bound, " × ") && !strings.Contains(bound, "degraded") {
			t.Error(bound)
		}
	}
	rows := cells(out.String())
	for row, want := range map[string][]string{
		"searches": {"10.0", "60"}, "questions": {"0.5", "6", "0"}, "edits, until a search finds them": {"0.5", "6", "0"}, "other edits, until the commit": {"2.0", "12", "0"},
		"recall@10 of vector search against an exact scan": {"1.000"}, "the last 6 edits, found at the end, share": {"1.000"}, "jobs left in the queue, dead ones too": {"0"},
		"public.chunks": {"1200"},
	} {
		if got := rows[row]; len(got) < len(want) || strings.Join(got[:len(want)], " ") != strings.Join(want, " ") {
			t.Errorf("%s: %q, want %q, in\n%s", row, got, want, &out)
		}
	}
}
