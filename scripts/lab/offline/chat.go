package offline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"time"
)

type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	N                   *int            `json:"n"`
	ResponseFormat      *responseFormat `json:"response_format"`
	Tools               []tool          `json:"tools"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema"`
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index        int         `json:"index"`
	Message      *answerText `json:"message,omitempty"` // of a complete answer
	Delta        *answerText `json:"delta,omitempty"`   // of a chunk
	FinishReason *string     `json:"finish_reason"`
}

type answerText struct {
	Role    string     `json:"role,omitempty"`
	Content *string    `json:"content,omitempty"`
	Refusal *string    `json:"refusal,omitempty"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
}

func serveChat(w http.ResponseWriter, r *http.Request) {
	var request chatRequest
	if p := readJSON(w, r, &request); p != nil {
		writeProblem(w, p)
		return
	}
	question, tokens, p := request.check()
	if p != nil {
		writeProblem(w, p)
		return
	}
	text := ""
	var call *toolCall
	switch {
	case request.structured():
		if text, p = describeDocument(question); p != nil {
			writeProblem(w, p)
			return
		}
	case request.schema() != "":
		text = "{}" // of a model that makes nothing of it
	default:
		text, call = request.reply(question)
	}
	pieces, finish := limitTokens(splitPieces(text), request.limit())
	answer := strings.Join(pieces, "")
	completed := countTokens(answer)
	var calls []toolCall
	if call != nil {
		calls, finish, completed = []toolCall{*call}, "tool_calls", countTokens(call.Function.Arguments)
	}
	c := completion{
		ID: completionID(question), Object: "chat.completion", Created: time.Now().Unix(), Model: ChatModel,
	}
	used := &usage{PromptTokens: tokens, CompletionTokens: &completed, TotalTokens: tokens + completed}
	if request.Stream {
		include := request.StreamOptions != nil && request.StreamOptions.IncludeUsage
		c.stream(w, r, pieces, calls, finish, used, include)
		return
	}
	c.Usage = used
	c.Choices = []choice{{Message: &answerText{Role: "assistant", Content: &answer, Calls: calls}, FinishReason: &finish}}
	writeJSON(w, http.StatusOK, c)
}

// check returns the text of a valid request's last user message and the tokens of all messages.
func (c chatRequest) check() (question string, tokens int, p *problem) {
	switch {
	case c.Model == "":
		return "", 0, invalid("model", "You must provide a model parameter.")
	case c.Model != ChatModel:
		return "", 0, modelNotFound(c.Model)
	case len(c.Messages) == 0:
		return "", 0, invalid("messages", "'messages' must hold at least one message.")
	case c.N != nil && *c.N != 1:
		return "", 0, invalid("n", "%s gives one answer: 'n' must be 1.", ChatModel)
	case slices.ContainsFunc(c.Tools, func(t tool) bool { return t.Type != "function" || t.Function.Name == "" }):
		return "", 0, invalid("tools", "A tool must be of type 'function' and have a name.")
	case c.ResponseFormat != nil && c.ResponseFormat.Type != "text" && c.schema() == "":
		return "", 0, invalid("response_format", "%s answers in plain text, or a json_schema with a name.", ChatModel)
	case c.StreamOptions != nil && !c.Stream:
		return "", 0, invalid("stream_options", "'stream_options' is only allowed when 'stream' is true.")
	case c.MaxTokens != nil && *c.MaxTokens < 1:
		return "", 0, invalid("max_tokens", "'max_tokens' must be at least 1.")
	case c.MaxCompletionTokens != nil && *c.MaxCompletionTokens < 1:
		return "", 0, invalid("max_completion_tokens", "'max_completion_tokens' must be at least 1.")
	}
	for i, message := range c.Messages {
		text, err := message.text()
		if err != nil {
			return "", 0, invalid(fmt.Sprintf("messages[%d].content", i), "Message %d: %v.", i, err)
		}
		switch message.Role {
		case "user":
			question = text
		case "system", "developer", "assistant":
		default:
			return "", 0, invalid(fmt.Sprintf("messages[%d].role", i), "Unsupported role %q.", shortened(message.Role))
		}
		tokens += countTokens(text)
	}
	if tokens > maxChatTokens {
		return "", 0, &problem{
			status: http.StatusBadRequest, code: "context_length_exceeded", param: "messages",
			message: fmt.Sprintf("The messages have about %d tokens; the maximum is %d.", tokens, maxChatTokens),
		}
	}
	return question, tokens, nil
}

// text returns a message's content: a string, or an array of text parts.
func (m chatMessage) text() (string, error) {
	content := bytes.TrimSpace(m.Content)
	if len(content) > 0 && content[0] == '"' {
		var text string
		err := json.Unmarshal(content, &text)
		return text, err
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(content, &parts); err != nil || len(parts) == 0 {
		return "", fmt.Errorf("content must be a string or an array of text parts")
	}
	var text strings.Builder
	for _, part := range parts {
		if part.Type != "text" {
			return "", fmt.Errorf("%s reads text only, not %q", ChatModel, shortened(part.Type))
		}
		text.WriteString(part.Text)
	}
	return text.String(), nil
}

// limit returns the maximum length of the answer in tokens; 0 is no limit.
func (c chatRequest) limit() int {
	switch {
	case c.MaxCompletionTokens != nil:
		return *c.MaxCompletionTokens
	case c.MaxTokens != nil:
		return *c.MaxTokens
	}
	return 0
}

// splitPieces splits an answer into words, each with the blanks after it.
func splitPieces(answer string) []string {
	return strings.SplitAfter(answer, " ")
}

// limitTokens keeps the pieces that fit, and returns the finish reason.
func limitTokens(pieces []string, limit int) (kept []string, finish string) {
	tokens := 0
	for i, piece := range pieces {
		tokens += countTokens(piece)
		if limit > 0 && tokens > limit {
			return pieces[:i], "length"
		}
	}
	return pieces, "stop"
}

// completionID derives the id from the question, so that equal requests get equal responses.
func completionID(question string) string {
	h := fnv.New64a()
	h.Write([]byte(question))
	return fmt.Sprintf("chatcmpl-offline-%016x", h.Sum64())
}
