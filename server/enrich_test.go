package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/enrich"
	"tasklens/internal/fault"
	"tasklens/scripts/lab/offline"
)

// Documents are enriched in several batches. Failures are reported, and retried on request.
func TestEnrichDocuments(t *testing.T) {
	owner, settings := startStack(t)
	inner := offline.NewHandler()
	var repaired atomic.Bool
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !repaired.Load() {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(model.Close)
	setEnvironment(t, with(settings, "OPENAI_BASE_URL", model.URL+"/v1"))
	if _, err := owner.Exec(t.Context(), `insert into public.documents (title, content) values ('Pump', 'Wiktor restarts the pump.'), ('Belt', 'It slips.');
		insert into tasklens.embedding_jobs (source_id, kind, background, attempts) select source_id, 'enrich', false, 4 from tasklens.sources where document_id is not null`); err != nil {
		t.Fatal(err)
	}
	if err := enrichDocuments(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "2 documents are not enriched, 2 of them because their last attempt failed") {
		t.Errorf("the error is %v", err)
	}
	repaired.Store(true)
	if output := printed(t, func() error { return enrichDocuments(t.Context(), []string{"--retry"}) }); !strings.Contains(output, "2 documents were enriched; 2 of 2 are.") {
		t.Errorf("output is %q", output)
	}
	if _, err := owner.Exec(t.Context(), `insert into public.documents (title, content)
		select 'Pump ' || i, 'Wiktor restarts the pump in Graz.' from generate_series(1, 45) i`); err != nil {
		t.Fatal(err)
	}
	if output := printed(t, func() error { return enrichDocuments(t.Context(), nil) }); !strings.Contains(output, "45 documents were enriched; 47 of 47 are.") {
		t.Errorf("output is %q", output)
	}
}

// limiter is a model that limits the rate before each answer, or always.
type limiter struct {
	asked  int
	always bool
}

func (l *limiter) ChatModel() string { return "limiter" }

func (l *limiter) CompleteJSON(context.Context, string, string, int, chat.Schema) (chat.Completion, error) {
	if l.asked++; l.asked%2 == 1 || l.always {
		limited := fault.New(fault.Unavailable, "The model provider is rate-limiting this service.")
		limited.RetryAfter = time.Millisecond
		return chat.Completion{}, limited
	}
	return chat.Completion{Text: `{"keywords": ["pump"], "named_entities": [], "temporal_class": "dated"}`, Model: "limiter", Finish: "stop"}, nil
}

// Rate limits in a row end the work, however many a long run meets.
func TestEnrichDocumentsCountsLimitsInARow(t *testing.T) {
	owner, settings := startStack(t)
	setEnvironment(t, settings)
	config, err := readConfig()
	if err != nil {
		t.Fatal(err)
	}
	const documents = 2 * limitedPauses
	if _, err := owner.Exec(t.Context(), `insert into public.documents (title, content) select 'Pump ' || i, 'Wiktor restarts the pump.' from generate_series(1, $1::int) i`, documents); err != nil {
		t.Fatal(err)
	}
	model := &limiter{}
	run := func() (int, error) {
		enricher := enrich.New(model, enrich.Options{Concurrency: 1, Warn: func(context.Context, string, error) {}})
		return runBatches(t.Context(), enricher, newDatabase(config).AsService(), newProgress("enriching"), documents)
	}
	if succeeded, err := run(); err != nil || succeeded != documents {
		t.Errorf("%d documents are enriched: %v", succeeded, err)
	}
	if _, err := owner.Exec(t.Context(), `insert into public.documents (title, content) values ('Belt', 'It slips.')`); err != nil {
		t.Fatal(err)
	}
	model.asked, model.always = 0, true
	if succeeded, err := run(); fault.CodeOf(err) != fault.Unavailable || succeeded != 0 || model.asked != limitedPauses+1 {
		t.Errorf("after %d requests: %v", model.asked, err)
	}
}
