// Package apitest runs the service for tests that ask it over HTTP, as any client does: over a
// database of the test's own and a stand-in of the model's provider. It must not know what is
// asked.
package apitest

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/index"
	"tasklens/internal/memo"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/search"
	"tasklens/internal/testbed"
	"tasklens/internal/tokenizer"
	"tasklens/scripts/lab/offline"
	"tasklens/server/api"
	"tasklens/supabase"
)

// drain is how long requests under way may take when a test ends.
const drain = 10 * time.Second

// Service is a running service and what it runs over.
type Service struct {
	URL      string
	RESTURL  string // of the database
	Key      string // to it, the service's own
	ModelURL string // of the provider, with its /v1
	Database *postgrest.Session
	Model    *openai.Client
	Indexer  *index.Indexer
}

// Start runs a service as it is with no settings, until the test ends. What it warns of fails the
// test.
func Start(t testing.TB, database *testbed.DB, provider http.Handler) Service {
	t.Helper()
	restURL, secret := testbed.REST(t, database)
	key := testbed.Token(t, secret, "service_role")
	modelURL, model := testbed.Model(t, provider)
	client := postgrest.New(restURL, key, testbed.Schema())
	indexer := index.New(model, tokenizer.Load())
	app, err := api.New(api.Parts{
		Database: client, Indexer: indexer, Comparer: search.NewComparer(model, tokenizer.Load()),
		Searcher:   search.New(search.Weights{Vector: 1, Keyword: 1}, func(_ context.Context, message string, err error) { t.Error(message, err) }),
		Answerer:   answer.New(model, answer.Options{}),
		Migrations: supabase.Migrations(), Log: slog.New(slog.DiscardHandler),
		EmbeddingModel: offline.EmbeddingModel, Embeddings: memo.NewEmbeddings(model, nil, nil), RequestTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	url, _ := Serve(t, app)
	return Service{URL: url, RESTURL: restURL, Key: key, ModelURL: modelURL, Database: client.AsService(), Model: model, Indexer: indexer}
}

// Serve serves at an address of its own until the test ends, or stop is called, which gives
// requests under way so long.
func Serve(t testing.TB, app *api.API) (url string, stop func(within time.Duration) error) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	var once sync.Once
	stop = func(within time.Duration) (err error) {
		once.Do(func() {
			err = app.Shutdown(within)
			_ = listener.Close()
			<-served
		})
		return err
	}
	t.Cleanup(func() {
		if err := stop(drain); err != nil {
			t.Errorf("stop the service: %v", err)
		}
	})
	return "http://" + listener.Addr().String(), stop
}
