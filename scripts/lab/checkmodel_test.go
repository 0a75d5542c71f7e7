package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"

	"tasklens/scripts/lab/offline"
)

// The cost of a check is estimated in advance. A check that is too expensive, or of an OpenAI model
// with unknown price, is refused.
func TestCheckModelEstimates(t *testing.T) {
	for name, c := range map[string]struct {
		settings map[string]string
		refused  string
	}{
		"the usual ones":  {settings: map[string]string{}},
		"an earlier one":  {settings: map[string]string{"EMBEDDING_MODEL": "text-embedding-ada-002"}},
		"a dear one":      {settings: map[string]string{"CHAT_MODEL": "gpt-4o"}, refused: "more than $0.10"},
		"an unknown one":  {settings: map[string]string{"CHAT_MODEL": "gpt-99"}, refused: "gpt-99 are unknown"},
		"somebody else's": {settings: map[string]string{"CHAT_MODEL": "gpt-99", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := env.ParseAsWithOptions[settings](env.Options{Environment: c.settings})
			if err != nil {
				t.Fatal(err)
			}
			err = checkModel(t.Context(), s, []string{"--estimate", "../../supabase/sample"})
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("%v, want %q", err, c.refused)
			}
		})
	}
	if err := checkModel(t.Context(), settings{}, nil); err != errUsage {
		t.Errorf("without a folder: %v", err)
	}
	if err := checkModel(t.Context(), settings{}, []string{"--estimate", t.TempDir()}); err == nil {
		t.Error("a folder without questions is taken")
	}
}

// A departure is printed: a tool that is ignored, or the end of a long text.
func TestCheckModelNamesDepartures(t *testing.T) {
	for name, c := range map[string]struct {
		change func(body map[string]any)
		want   string
	}{
		"none": {func(map[string]any) {}, "in nothing that the service uses"},
		"ignores the tool": {func(body map[string]any) {
			delete(body, "tools")
		}, "does not call its tool"},
		"fails with a tool": {func(body map[string]any) {
			if strings.Contains(fmt.Sprint(body["messages"]), "Call the tool") {
				delete(body, "messages")
			}
		}, "it fails with a tool: "},
		"cuts in silence": {func(body map[string]any) {
			inputs, _ := body["input"].([]any)
			for i, input := range inputs {
				inputs[i] = input.(string)[:min(300, len(input.(string)))]
			}
		}, "leaves out the end"},
	} {
		t.Run(name, func(t *testing.T) {
			model := offline.NewHandler()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				c.change(body)
				text, _ := json.Marshal(body) // was JSON
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
				model.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			config := settings{OpenAIBaseURL: server.URL + "/v1", EmbeddingModel: offline.EmbeddingModel, ChatModel: offline.ChatModel}
			var out bytes.Buffer
			if config.probe(t.Context(), &out, slices.Repeat([]string{"text"}, probed)); !strings.Contains(out.String(), c.want) {
				t.Error(out.String())
			}
		})
	}
}
