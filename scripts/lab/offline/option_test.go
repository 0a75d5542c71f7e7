package offline_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tasklens/scripts/lab/offline"
)

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
		{`{"model":"words-1","input":"pump","dimensions":2}`, 200, `"model":"words-1"`},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/embeddings", strings.NewReader(c.body)))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: answered %d: %s", c.body, w.Code, w.Body)
		}
	}
}
