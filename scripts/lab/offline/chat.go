package offline

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"time"

	"tasklens/scripts/lab/offline/describe"
	"tasklens/scripts/lab/offline/extract"
	"tasklens/scripts/lab/offline/figures"
)

type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Stream        bool `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           *int `json:"max_tokens"`
	MaxCompletionTokens *int `json:"max_completion_tokens"`
	ResponseFormat      struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name string `json:"name"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Tools []tool `json:"tools"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string `json:"name"`
		Parameters struct {
			Required []string `json:"required"`
		} `json:"parameters"`
	} `json:"function"`
}

// A reply is what the model says, in pieces, or the tool that it calls.
type reply struct {
	pieces          []string // words, each with the blank after it
	tool, arguments string   // the name of the tool; empty if it calls none
	finish          string   // stop, length or tool_calls
	usage           object
}

func (h handler) serveChat(w http.ResponseWriter, r *http.Request) {
	var request chatRequest
	p := readJSON(w, r, &request)
	message, tokens := "", 0
	if p == nil {
		message, tokens, p = request.check()
	}
	var said reply
	if p == nil {
		said, p = request.reply(message, h.meaning)
	}
	if p != nil {
		p.write(w)
		return
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(message))
	answer := object{"id": fmt.Sprintf("chatcmpl-offline-%016x", hash.Sum64()), "created": time.Now().Unix(), "model": ChatModel}
	text := strings.Join(said.pieces, "")
	completed := countTokens(text + said.arguments)
	said.usage = object{"prompt_tokens": tokens, "completion_tokens": completed, "total_tokens": tokens + completed}
	if request.Stream {
		if request.StreamOptions == nil || !request.StreamOptions.IncludeUsage {
			said.usage = nil
		}
		said.stream(w, r, answer)
		return
	}
	told := object{"role": "assistant", "content": text}
	if said.tool != "" {
		told["tool_calls"] = []object{{"id": callID, "type": "function", "function": object{"name": said.tool, "arguments": said.arguments}}}
	}
	answer["object"], answer["usage"] = "chat.completion", said.usage
	answer["choices"] = []object{{"index": 0, "message": told, "finish_reason": said.finish}}
	writeJSON(w, http.StatusOK, answer)
}

const callID = "call_offline"

// check returns the text of a valid request's last user message and the tokens of all messages.
func (c chatRequest) check() (message string, tokens int, p *problem) {
	isLess := func(n *int, least int) bool { return n != nil && *n < least }
	switch format := c.ResponseFormat; {
	case c.Model == "":
		return "", 0, invalid("model", "You must provide a model parameter.")
	case c.Model != ChatModel:
		return "", 0, modelNotFound(c.Model, ChatModel)
	case len(c.Messages) == 0:
		return "", 0, invalid("messages", "'messages' must hold at least one message.")
	case slices.ContainsFunc(c.Tools, func(t tool) bool { return t.Type != "function" || t.Function.Name == "" }):
		return "", 0, invalid("tools", "A tool must be of type 'function' and have a name.")
	case format.Type != "" && format.Type != "text" && (format.Type != "json_schema" || format.JSONSchema.Name == ""):
		return "", 0, invalid("response_format", "%s answers in plain text, or a json_schema with a name.", ChatModel)
	case c.StreamOptions != nil && !c.Stream:
		return "", 0, invalid("stream_options", "'stream_options' is only allowed when 'stream' is true.")
	case isLess(c.MaxTokens, 1) || isLess(c.MaxCompletionTokens, 1):
		return "", 0, invalid("max_tokens", "The tokens of an answer must be at least 1.")
	}
	for i, m := range c.Messages {
		text, err := textOf(m.Content)
		if err != nil {
			return "", 0, invalid(fmt.Sprintf("messages[%d].content", i), "Message %d: %v.", i, err)
		}
		if !slices.Contains([]string{"user", "system", "developer", "assistant"}, m.Role) {
			return "", 0, invalid(fmt.Sprintf("messages[%d].role", i), "Unsupported role %.100q.", m.Role)
		}
		if m.Role == "user" {
			message = text
		}
		tokens += countTokens(text)
	}
	if tokens > maxChatTokens {
		p = invalid("messages", "The messages have about %d tokens; the maximum is %d.", tokens, maxChatTokens)
		p.code = "context_length_exceeded"
	}
	return message, tokens, p
}

// textOf returns a message's content: a string, or an array of text parts.
func textOf(content json.RawMessage) (text string, err error) {
	if json.Unmarshal(content, &text) == nil && string(content) != "null" {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(content, &parts) != nil || len(parts) == 0 {
		return "", errors.New("content must be a string or an array of text parts")
	}
	for _, part := range parts {
		if part.Type != "text" {
			return "", fmt.Errorf("%s reads text only, not %.100q", ChatModel, part.Type)
		}
		text += part.Text
	}
	return text, nil
}

// reply describes a document, calls a tool that takes what figures.Call has, or answers from the
// sources of a prompt, which it compares by meaning if there is an embedder.
func (c chatRequest) reply(message string, meaning embedder) (reply, *problem) {
	text := "{}" // of a schema that the model makes nothing of
	switch c.ResponseFormat.JSONSchema.Name {
	case "":
		prompt := extract.ParsePrompt(message)
		thread := figures.Thread(prompt.Question, prompt.Turns)
		for _, t := range c.Tools {
			if call, is := figures.Read(thread, prompt.Names(), prompt.Today); is && slices.Contains(t.Function.Parameters.Required, "group_by") {
				arguments, _ := json.Marshal(call) // strings, numbers and lists of them
				return reply{tool: t.Function.Name, arguments: string(arguments), finish: "tool_calls"}, nil
			}
		}
		prompt.Question, prompt.AsksForTickets = strings.Join(thread, " "), len(c.Tools) > 0 && figures.Asks(thread)
		var err error
		if text, err = prompt.Answer(meaning); err != nil {
			return reply{}, &problem{status: http.StatusInternalServerError, message: fmt.Sprintf("%s failed: %v.", ChatModel, err)}
		}
	case "document_enrichment":
		var document struct{ Title, Content string }
		if err := json.Unmarshal([]byte(message), &document); err != nil {
			return reply{}, invalid("messages", "%s describes documents: the last message must be a JSON object with title and content: %v.", ChatModel, err)
		}
		description, _ := json.Marshal(describe.Document(document.Title, document.Content)) // strings
		text = string(description)
	}
	r := reply{pieces: strings.SplitAfter(text, " "), finish: "stop"}
	for _, limit := range []*int{c.MaxTokens, c.MaxCompletionTokens} { // a word has at least a token
		if limit != nil && len(r.pieces) > *limit {
			r.pieces, r.finish = r.pieces[:*limit], "length"
		}
	}
	return r, nil
}
