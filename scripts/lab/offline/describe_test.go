package offline_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"tasklens/scripts/lab/offline"
)

func TestDescribeDocument(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	ask := func(schema, message string) (*openai.ChatCompletion, error) {
		params := openai.ChatCompletionNewParams{Model: offline.ChatModel, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(message)}}
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: schema, Strict: openai.Bool(true), Schema: map[string]any{}},
		}
		return client.Chat.Completions.New(t.Context(), params)
	}
	whole, err := ask("document_enrichment", `{"title": "How to wake the pump", "content": "Ask Wiktor before you wake the pump in Graz, then wait for an hour."}`)
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Keywords      []string
		NamedEntities []struct{ Name, Type string } `json:"named_entities"`
		TemporalClass string                        `json:"temporal_class"`
	}
	if err := json.Unmarshal([]byte(whole.Choices[0].Message.Content), &said); err != nil {
		t.Fatal(err)
	}
	if len(said.Keywords) == 0 || len(said.NamedEntities) != 2 || said.NamedEntities[0].Name != "Wiktor" || said.TemporalClass != "evergreen" {
		t.Errorf("said is %+v", said)
	}
	var refusal *openai.Error
	if _, err := ask("document_enrichment", "no JSON"); !errors.As(err, &refusal) || refusal.StatusCode != 400 || !strings.Contains(refusal.Message, "JSON object") {
		t.Errorf("no document: %v", err)
	}
	if other, err := ask("another_form", `{}`); err != nil || other.Choices[0].Message.Content != "{}" {
		t.Errorf("another form: %+v, %v", other, err)
	}
}
