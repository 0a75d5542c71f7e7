package offline_test

import (
	"encoding/json"
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

// The model that was added compares the sentences of answers, too. What no tool counts is not
// answered with one.
func TestAnswersUseTheAddedModel(t *testing.T) {
	t.Parallel()
	source := func(question string) string {
		content, _ := json.Marshal(strings.Replace(prompt, "When does the galley open?", question, 1))
		return `{"model":"offline-chat","messages":[{"role":"user","content":` + string(content) + `}]`
	}
	const tool = `,"tools":[{"type":"function","function":{"name":"figures","parameters":{"required":["group_by"]}}}]`
	alike := offline.WithEmbedder("alike", func(text string) ([]float32, error) {
		if strings.Contains(text, "broken") {
			return nil, errors.New("it is broken")
		}
		return []float32{1}, nil
	})
	for _, c := range []struct {
		body   string
		option []offline.Option
		status int
		want   string
	}{
		{source("From what hour can one eat?") + "}", nil, 200, "do not answer this question"},
		{source("From what hour can one eat?") + "}", []offline.Option{alike}, 200, "The galley opens at noon [1]."},
		{source("What is broken?") + "}", []offline.Option{alike}, 500, "offline-chat failed: it is broken."},
		{source("Which tickets about the galley annoy people?") + "}", []offline.Option{alike}, 200, "The galley opens at noon [1]."},
		{source("Which tickets about the galley annoy people?") + tool + "}", []offline.Option{alike}, 200, "I count and list tickets by"},
		{source("Which tickets about the galley are open?") + tool + "}", []offline.Option{alike}, 200, `{\"action\":\"list\"`},
	} {
		w := httptest.NewRecorder()
		handler := offline.NewHandler(c.option...)
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(c.body)))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: answered %d: %s", c.body, w.Code, w.Body)
		}
	}
}
