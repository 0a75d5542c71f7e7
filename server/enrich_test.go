package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"tasklens/scripts/lab/offline"
)

func TestEnrichDocuments(t *testing.T) {
	owner, settings := startStack(t)
	setEnvironment(t, settings)
	if _, err := owner.Exec(t.Context(), `insert into public.documents (title, content)
		select 'Pump ' || i, 'Wiktor restarts the pump in Graz.' from generate_series(1, 45) i`); err != nil {
		t.Fatal(err)
	}
	if output := printed(t, func() error { return enrichDocuments(t.Context(), nil) }); !strings.Contains(output, "45 documents were enriched; 45 of 45 are.") {
		t.Errorf("output is %q", output)
	}
	await(t, owner, 45, `select count(*) from public.documents where enrichment_model = 'offline-chat'`)
	if err := enrichDocuments(t.Context(), []string{"more"}); !errors.Is(err, errUsage) {
		t.Errorf("with an argument: %v", err)
	}
}

// Failures are reported, and retried on request.
func TestEnrichDocumentsRetries(t *testing.T) {
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
		update public.documents set enrichment_attempts = 4`); err != nil {
		t.Fatal(err)
	}
	if err := enrichDocuments(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "2 documents are not enriched, 2 of them because their last attempt failed") {
		t.Errorf("the error is %v", err)
	}
	repaired.Store(true)
	if output := printed(t, func() error { return enrichDocuments(t.Context(), []string{"--retry"}) }); !strings.Contains(output, "2 documents were enriched; 2 of 2 are.") {
		t.Errorf("output is %q", output)
	}
}

// A provider that limits the rate is waited for, and the waiting is announced.
func TestEnrichDocumentsWaits(t *testing.T) {
	owner, settings := startStack(t)
	inner := offline.NewHandler()
	var limited atomic.Bool
	limited.Store(true)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if limited.CompareAndSwap(true, false) {
			w.Header().Set("Retry-After", "3") // longer than is waited for within a request
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(model.Close)
	setEnvironment(t, with(settings, "OPENAI_BASE_URL", model.URL+"/v1"))
	if _, err := owner.Exec(t.Context(), `insert into public.documents (title, content) values ('Pump', 'Wiktor restarts the pump.')`); err != nil {
		t.Fatal(err)
	}
	stderr := catchStderr(t)
	if output := printed(t, func() error { return enrichDocuments(t.Context(), nil) }); !strings.Contains(output, "1 documents were enriched; 1 of 1 are.") {
		t.Errorf("output is %q", output)
	}
	if text := stderr(); !strings.Contains(text, "The model provider is rate-limiting this service. Trying again in 3s.\n") {
		t.Errorf("on standard error it says %q", text)
	}
}
