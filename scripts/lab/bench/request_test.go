package bench_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/scripts/lab/bench"
)

const (
	embeddingRequest = `{"model":"words-1","input":"pump","dimensions":2}`
	chatRequest      = `{"model":"offline-chat","messages":[{"role":"user","content":"pump?"}]}`
)

// Fake time: it advances when all goroutines wait.
func TestAnswersAreDelayed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := bench.NewModel(bench.Delays{Embed: 200 * time.Millisecond, Chat: 600 * time.Millisecond})
		for _, test := range []struct {
			method, path, body string
			want               time.Duration
		}{
			{http.MethodPost, "/v1/embeddings", embeddingRequest, 200 * time.Millisecond},
			{http.MethodPost, "/v1/chat/completions", chatRequest, 600 * time.Millisecond},
		} {
			started, w := time.Now(), httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(test.method, test.path, strings.NewReader(test.body)))
			if took := time.Since(started); took != test.want || w.Code != http.StatusOK {
				t.Errorf("%s took %v and answered %d: %s", test.path, took, w.Code, w.Body)
			}
		}
	})
}

func TestNobodyWaitsForAClientThatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		started := time.Now()
		request := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(chatRequest)).WithContext(ctx)
		bench.NewModel(bench.Delays{Chat: time.Hour}).ServeHTTP(httptest.NewRecorder(), request)
		if took := time.Since(started); took != time.Second {
			t.Errorf("waited %v", took)
		}
	})
}
