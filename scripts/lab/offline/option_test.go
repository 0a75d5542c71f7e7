package offline_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/scripts/lab/offline"
)

const (
	embeddingRequest = `{"model":"offline-embedding-3","input":"pump","dimensions":2}`
	chatRequest      = `{"model":"offline-chat","messages":[{"role":"user","content":"pump?"}]}`
)

// Fake time: it advances when all goroutines wait.
func TestAnswersAreDelayed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := offline.NewHandler(offline.Delay(200*time.Millisecond, 600*time.Millisecond))
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
		offline.NewHandler(offline.Delay(0, time.Hour)).ServeHTTP(httptest.NewRecorder(), request)
		if took := time.Since(started); took != time.Second {
			t.Errorf("waited %v", took)
		}
	})
}

func TestAnotherEmbedder(t *testing.T) {
	t.Parallel()
	handler := offline.NewHandler(offline.Embedder(func(text string, dimensions int) []float32 {
		return []float32{float32(len(text)), float32(dimensions)}
	}))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/embeddings", strings.NewReader(embeddingRequest)))
	if !strings.Contains(w.Body.String(), `"embedding":[4,2]`) {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}
}
