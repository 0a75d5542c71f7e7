package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// refusals are the same refusal in the words of many servers.
var refusals = map[string]func(http.ResponseWriter, string){
	"OpenAI's":  nil,
	"a text":    status(400, `{"error":"extra field %s"}`),
	"FastAPI":   status(422, `{"detail":[{"type":"extra_forbidden","loc":["body","%s"],"msg":"Extra inputs are not permitted","input":{"messages":"max_tokens dimensions"}}]}`),
	"Mistral":   status(422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","%s"],"msg":"not allowed"}]},"type":"invalid_request_error"}`),
	"a message": status(400, `{"message":"unknown parameter %s","code":20015}`),
	"a list":    status(400, `[{"error":{"code":400,"message":"Unknown name \"%s\"","status":"INVALID_ARGUMENT"}}]`),
	"HTML":      status(400, `<html><body><h1>Bad request</h1>%s</body></html>`),
	"nothing":   status(400, ``),
	// llama-cpp-python 0.3.36
	"a server's error": status(500, `{"error":{"message":"1 validation error:\n  {'type': 'literal_error', 'loc': ('body', '%s', 'type'), 'msg': 'Input should be ...'}","type":"internal_server_error","param":null,"code":null}}`),
	"with status 200":  status(200, `{"error":{"code":400,"message":"%s is unknown"}}`),
}

// A request is repeated in the dialect of the server, which the next one speaks at once.
func TestDialects(t *testing.T) {
	t.Parallel()
	for name, refuse := range refusals {
		for _, refused := range [][]string{
			{"max_tokens"}, {"stream_options"}, {"encoding_format"}, {"response_format:json_schema"}, {"response_format"},
			{"max_tokens", "stream_options"},
		} {
			t.Run(name+" "+strings.Join(refused, " "), func(t *testing.T) {
				t.Parallel()
				server := &peculiar{refused: refused, refuse: refuse, content: []any{"{}"}}
				client := server.client(t)
				for range 2 {
					server.requests = nil
					_, _, embed := client.Embed(t.Context(), "e", []string{"a"})
					_, complete := client.Complete(t.Context(), chat.Request{Instructions: "be good", Message: "hi", MaxTokens: 5})
					said, jsonErr := client.CompleteJSON(t.Context(), "be good", "hi", 5, chat.Schema{Name: "thing", JSON: map[string]any{"title": "marker"}})
					_, stream := client.Stream(t.Context(), chat.Request{Instructions: "be good", Message: "hi", MaxTokens: 5}, func(string) error { return nil })
					if err := errors.Join(embed, complete, jsonErr, stream); err != nil || said.Text != "{}" {
						t.Fatalf("%+v, %v", said, err)
					}
				}
				if len(server.requests) != 4 {
					t.Errorf("once the dialect is known, 4 calls are %d requests", len(server.requests))
				}
				for _, request := range server.requests {
					format, _ := request["response_format"].(map[string]any)
					if text := fmt.Sprint(request["messages"]); format["type"] == "json_object" && !strings.Contains(text, "marker") {
						t.Errorf("the model is not told the schema: %s", text)
					}
				}
			})
		}
	}
}

// A server without a system role gets the text before the user's. The refusal is that of vLLM
// 0.32.0, with a template such as Gemma's.
func TestNoSystemRole(t *testing.T) {
	t.Parallel()
	server := &peculiar{refused: []string{"system"}, refuse: status(400, `{"error":{"message":"System role not supported","type":"BadRequestError","param":null,"code":400}}`), content: []any{"Hi"}}
	if _, err := server.client(t).Complete(t.Context(), chat.Request{Instructions: "be good", Message: "hello", MaxTokens: 5}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(server.requests[1]["messages"]); got != "[map[content:be good\n\nhello role:user]]" {
		t.Errorf("the messages are %s", got)
	}
}

// A refusal about something else neither changes the dialect nor repeats requests for ever.
func TestRefusalsOfSomethingElse(t *testing.T) {
	t.Parallel()
	server := &peculiar{content: []any{"Hi"}, refused: []string{"model"}, refuse: status(400, `{"error":"no"}`)}
	client := server.client(t)
	for range 10 {
		if _, err := client.Complete(t.Context(), chat.Request{MaxTokens: 5}); fault.CodeOf(err) != fault.Provider {
			t.Fatal(err)
		}
	}
	if tried := len(server.requests); tried > 10+settled*len(changes) || client.chatDialect.known != 0 || client.OpenCircuits() != nil {
		t.Errorf("after %d requests the dialect is %b, the circuits %v", tried, client.chatDialect.known, client.OpenCircuits())
	}
	server.refused = nil
	if _, err := client.Complete(t.Context(), chat.Request{MaxTokens: 5}); err != nil || server.requests[len(server.requests)-1]["max_tokens"] == nil {
		t.Errorf("the next request is %v, %v", server.requests[len(server.requests)-1], err)
	}
}

// Dimensions are never left out: the vectors would have another length.
func TestRefusedDimensions(t *testing.T) {
	t.Parallel()
	server := &peculiar{refused: []string{"dimensions"}}
	_, _, err := server.client(t).Embed(t.Context(), "e@256", []string{"a", "b"})
	if err == nil || !strings.Contains(err.Error(), "unset it") || errors.Is(err, fault.ErrInput) {
		t.Errorf("the error is %v", err)
	}
}
