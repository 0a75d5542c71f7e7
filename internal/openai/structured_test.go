package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

func TestCompleteJSON(t *testing.T) {
	t.Parallel()
	form := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}, "required": []any{"a"}, "additionalProperties": false}
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			MaxTokens      int            `json:"max_tokens"`
			ResponseFormat map[string]any `json:"response_format"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.MaxTokens != 50 {
			t.Errorf("the request was %+v, %v", body, err)
		}
		want := map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "thing", "description": "A thing.", "strict": true, "schema": form}}
		if diff := cmp.Diff(want, body.ResponseFormat); diff != "" {
			t.Errorf("response_format (-want +got):\n%s", diff)
		}
		say(200, `{"model":"chatter-2","choices":[{"finish_reason":"stop","message":{"content":"{\"a\":\"b\"}"}}]}`)(w, r)
	})
	got, err := client.CompleteJSON(context.Background(), "be good", "hello", 50, chat.Schema{Name: "thing", Description: "A thing.", JSON: form})
	if err != nil || got != (chat.Completion{Text: `{"a":"b"}`, Model: "chatter-2", Finish: "stop"}) {
		t.Errorf("the completion is %+v, %v", got, err)
	}
}

// Each call sends exactly one request, which callers that limit requests rely on.
func TestCompleteJSONIsSentOnce(t *testing.T) {
	t.Parallel()
	client, asked := counting(t, say(500, `{}`), Config{MaxRetries: 2})
	if _, err := client.CompleteJSON(context.Background(), "", "", 1, chat.Schema{Name: "thing"}); fault.CodeOf(err) != fault.Provider || asked.Load() != 1 {
		t.Errorf("%d requests were sent, want 1: %v", asked.Load(), err)
	}
}
