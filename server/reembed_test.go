package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"tasklens/scripts/lab/offline"
)

// twoModels is a provider of the offline model and nextModel. It records the model of each
// single-input request and blocks the second model's batches until goOn is called.
type twoModels struct {
	asked chan struct{} // the second model received a batch
	going chan struct{}

	mutex  sync.Mutex
	single map[string]string // model by input
}

func startTwoModels(t *testing.T) (m *twoModels, address string) {
	t.Helper()
	m = &twoModels{asked: make(chan struct{}, 1000), going: make(chan struct{}), single: map[string]string{}}
	provider := newProvider()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request struct {
			Model string
			Input []string
		}
		if err != nil {
			return // the client has disconnected
		}
		_ = json.Unmarshal(body, &request) // it is of a chat
		if len(request.Input) == 1 {
			m.mutex.Lock()
			m.single[request.Input[0]] = request.Model
			m.mutex.Unlock()
		} else if request.Model == nextModel {
			m.asked <- struct{}{}
			select {
			case <-m.going:
			case <-r.Context().Done():
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		provider.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return m, server.URL + "/v1"
}

// Search uses the old model until the new one is complete, also after an interruption, and the new
// one from then on. Cached responses of the old model are not served afterwards.
func TestReembed(t *testing.T) {
	owner, settings := startStack(t)
	models, modelURL := startTwoModels(t)
	settings = with(settings, "OPENAI_BASE_URL", modelURL, "CHAT_MODEL", offline.ChatModel, "MODEL_TIMEOUT", "60s")
	url, _ := startService(t, settings)
	if _, err := owner.Exec(t.Context(), `insert into public.status (name) values ('Done'); insert into public.projects (key, name) values ('P', 'Pumps');
		insert into public.tickets (project_id, status_id, name, description) select p.project_id, s.status_id, 'Pump ' || i, repeat('It leaks. ', 20)
			from generate_series(1, 30) i, public.projects p, public.status s`); err != nil {
		t.Fatal(err)
	}
	await(t, owner, 0, `select count(*) from tasklens.embedding_jobs`)
	// search reports whether vector search found something and whether the response was cached.
	search := func(query string) (byVector, cached bool) {
		t.Helper()
		var page struct {
			Results []struct{ Source string }
			Cached  bool
		}
		if err := json.Unmarshal([]byte(fetch(t, http.MethodPost, url+"/api/hybrid-search", `{"query":"`+query+`"}`, http.StatusOK)), &page); err != nil {
			t.Fatal(err)
		}
		for _, result := range page.Results {
			byVector = byVector || result.Source == "vector"
		}
		return byVector, page.Cached
	}
	must := func(when, query, model string, remembered bool) {
		t.Helper()
		byVector, cached := search(query)
		models.mutex.Lock()
		asked := models.single[query]
		models.mutex.Unlock()
		if !byVector || cached != remembered || asked != model {
			t.Errorf("%s: by vector %v, cached %v, embedded by %q; want cached %v, embedded by %q", when, byVector, cached, asked, remembered, model)
		}
	}
	must("before", "a pump that leaks", offline.EmbeddingModel, false)
	must("asked again", "a pump that leaks", offline.EmbeddingModel, true)

	setEnvironment(t, with(settings, "EMBEDDING_MODEL", nextModel, "REQUEST_TIMEOUT", "1s"))
	run := func(args ...string) string {
		t.Helper()
		return printed(t, func() error { return reembedAll(t.Context(), args) })
	}
	if told := run("--estimate"); !strings.Contains(told, "31 sources to embed by next-embedding, about ") {
		t.Errorf("output is %q", told)
	}
	await(t, owner, 0, `select count(*) from tasklens.embedding_jobs`)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- reembedAll(ctx, nil) }()
	<-models.asked
	must("while it runs", "leaking pumps", offline.EmbeddingModel, false)
	stop()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("interrupted, it returns %v", err)
	}
	must("when it was stopped", "pumps leaking", offline.EmbeddingModel, false)
	close(models.going)
	if told := run(); !strings.Contains(told, "A set by next-embedding with chunking 1 was begun.") || !strings.Contains(told, "Search goes by next-embedding now.") {
		t.Errorf("output is %q", told)
	}
	must("afterwards", "the leak of a pump", nextModel, false)
	must("of what was remembered before", "a pump that leaks", nextModel, false)
	for path, body := range map[string]string{"tickets/similar": `{"text":"Pump that leaks"}`, "query": `{"question":"Which pump leaks?"}`} {
		if told := fetch(t, http.MethodPost, url+"/api/"+path, body, http.StatusOK); !strings.Contains(told, `"ticket_key":"P-`) {
			t.Errorf("%s returns %s", path, told)
		}
	}
	await(t, owner, 31, fmt.Sprintf(`select count(*) from public.chunks where model = '%s'`, nextModel))
	await(t, owner, 31, `select count(*) from public.chunks`)
	if told := run(); !strings.Contains(told, "Everything is embedded by next-embedding already") {
		t.Errorf("run again it prints %q", told)
	}
	// As a run interrupted just after the switch would leave it.
	if _, err := owner.Exec(t.Context(), `update tasklens.embedding_sets set other_state = 'retired', other_model = 'words-1', other_chunking = 1;
		insert into public.chunks (embedding_set, project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
			select 1, project_id, ticket_id, kind, position, text, tokens, input_hash, 'words-1', embedding from public.chunks`); err != nil {
		t.Fatal(err)
	}
	if told := run(); !strings.Contains(told, "already") || !strings.Contains(told, "The former embeddings are being removed.") {
		t.Errorf("after an interrupted switch it prints %q", told)
	}
	await(t, owner, 31, `select count(*) from public.chunks`)
	await(t, owner, 1, `select count(*) from tasklens.embedding_sets where serving = 2 and other_state = 'unused'`)
	if told := run("--abandon"); !strings.Contains(told, "No other set of embeddings is being built") {
		t.Errorf("with nothing to abandon it prints %q", told)
	}
}
