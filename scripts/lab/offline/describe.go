package offline

import (
	"encoding/json"

	"tasklens/scripts/lab/offline/describe"
)

// describedSchema is the name of the only supported JSON schema: the description of a document.
const describedSchema = "document_enrichment"

func (c chatRequest) structured() bool { return c.schema() == describedSchema }

// schema returns the name of the JSON Schema that a request wants an answer of.
func (c chatRequest) schema() string {
	if c.ResponseFormat == nil || c.ResponseFormat.Type != "json_schema" || c.ResponseFormat.JSONSchema == nil {
		return ""
	}
	return c.ResponseFormat.JSONSchema.Name
}

type jsonSchema struct {
	Name string `json:"name"`
}

// describeDocument returns the description of a document as JSON. message is the document, also as
// JSON.
func describeDocument(message string) (string, *problem) {
	var document struct {
		Title   string `json:"title"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal([]byte(message), &document); err != nil {
		return "", invalid("messages", "%s describes documents: the last message must be a JSON object with title and content: %v.", ChatModel, err)
	}
	text, err := json.Marshal(describe.Document(document.Title, document.Content))
	if err != nil {
		return "", invalid("messages", "the document cannot be described: %v", err)
	}
	return string(text), nil
}
