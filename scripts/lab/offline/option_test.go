package offline_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/scripts/lab/offline"
)

const (
	embeddingRequest = `{"model":"words-1","input":"pump","dimensions":2}`
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

// A model that was added is beside those that are always there, with vectors of its own length.
func TestWithEmbedder(t *testing.T) {
	t.Parallel()
	handler := offline.NewHandler(offline.WithEmbedder("lengths", func(text string) ([]float32, error) {
		if text == "broken" {
			return nil, errors.New("it is broken")
		}
		return []float32{3, 4, float32(len(text))}, nil
	}))
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"model":"lengths","input":["pump","a"]}`, 200, `[{"embedding":[3,4,4],"index":0,"object":"embedding"},{"embedding":[3,4,1],"index":1,"object":"embedding"}]`},
		{`{"model":"lengths","input":"pump","dimensions":2}`, 200, `"embedding":[0.6,0.8]`},
		{`{"model":"lengths","input":"pump","dimensions":4}`, 400, `"message":"'dimensions' must be from 1 to 3.","param":"dimensions","type":"invalid_request_error"`},
		{`{"model":"lengths","input":["pump","broken"]}`, 500, `{"error":{"code":null,"message":"The model lengths failed: it is broken.","param":null,"type":"server_error"}}`},
		{`{"model":"heights","input":"pump"}`, 404, `there is lengths, words-1.`},
		{embeddingRequest, 200, `"model":"words-1"`},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/embeddings", strings.NewReader(c.body)))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: answered %d: %s", c.body, w.Code, w.Body)
		}
	}
}
