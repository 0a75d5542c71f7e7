package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

var finder = chat.Schema{Name: "find", Description: "Finds.", JSON: map[string]any{
	"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}, "required": []any{"a"}, "additionalProperties": false,
}}

func withTool() chat.Request { return chat.Request{Message: "how many", MaxTokens: 5, Tool: &finder} }

// A call is read in whatever form servers write it.
func TestCalls(t *testing.T) {
	t.Parallel()
	call := func(fields string) string { return delta(`"tool_calls":[{`+fields+`}]`, "null") }
	end := delta("", `"tool_calls"`)
	whole := func(message string) http.HandlerFunc {
		return say(200, `{"model":"m","choices":[{"message":`+message+`,"finish_reason":"tool_calls"}]}`)
	}
	for name, c := range map[string]struct {
		answers    http.HandlerFunc
		text, call string
	}{
		"whole":               {whole(`{"content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"find","arguments":"{\"a\":\"b\"}"}}]}`), "", `{"a":"b"}`},
		"an object":           {whole(`{"tool_calls":[{"function":{"name":"find","arguments":{"a":"b"}}}]}`), "", `{"a":"b"}`},
		"text beside it":      {whole(`{"content":"Let me count.","tool_calls":[{"function":{"arguments":"{}"}}]}`), "Let me count.", `{}`},
		"nothing in it":       {whole(`{"tool_calls":[{"function":{"name":"find","arguments":""}}]}`), "", `{}`},
		"two, whole":          {whole(`{"tool_calls":[{"function":{"arguments":"{\"a\":\"1\"}"}},{"function":{"arguments":"{\"a\":\"2\"}"}}]}`), "", `{"a":"1"}`},
		"no JSON":             {whole(`{"tool_calls":[{"function":{"arguments":"a=b"}}]}`), "", `a=b`},
		"no calls":            {whole(`{"content":"Hi","tool_calls":[]}`), "Hi", ""},
		"in pieces":           {events(call(`"index":0,"id":"x","function":{"name":"find","arguments":""}`), call(`"index":0,"function":{"arguments":"{\"a\":"}`), call(`"index":0,"function":{"arguments":"\"b\"}"}`), end, "[DONE]"), "", `{"a":"b"}`},
		"an id for each":      {events(call(`"index":0,"id":"x","function":{"name":"find","arguments":"{\"a\""}`), call(`"index":0,"id":"y","function":{"arguments":":\"b\"}"}`), end), "", `{"a":"b"}`},
		"two, turn by turn":   {events(call(`"index":1,"function":{"arguments":"{\"a\":"}`), call(`"index":0,"function":{"arguments":"{\"a\":"}`), call(`"index":1,"function":{"arguments":"\"2\"}"}`), call(`"index":0,"function":{"arguments":"\"1\"}"}`), end), "", `{"a":"1"}`},
		"two of one index":    {events(call(`"function":{"arguments":"{\"a\":\"1\"}"}`), call(`"function":{"arguments":"{\"a\":\"2\"}"}`), end), "", `{"a":"1"}`},
		"after text":          {events(delta(`"content":"Let "`, "null"), call(`"index":0,"function":{"arguments":"{}"}`), end), "Let ", `{}`},
		"until the room ends": {events(call(`"index":0,"function":{"arguments":"{\"a\":"}`), delta("", `"length"`)), "", `{"a":`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, c.answers)
			said, err := client.Complete(t.Context(), withTool())
			streamed, streamErr := client.Stream(t.Context(), withTool(), func(string) error { return nil })
			if err != nil || said.Call != c.call || said.Text != c.text || streamErr != nil || streamed.Call != c.call || streamed.Text != c.text {
				t.Errorf("%+v, %v; as a stream %+v, %v", said, err, streamed, streamErr)
			}
		})
	}
	for name, answers := range map[string]http.HandlerFunc{
		"cut in the middle": events(call(`"index":0,"function":{"arguments":"{\"a\":"}`)),
		"endless":           events(call(`"index":0,"function":{"arguments":"` + strings.Repeat("x", maxCall+1) + `"}`)),
	} {
		if said, err := serve(t, answers).Stream(t.Context(), withTool(), func(string) error { return nil }); fault.CodeOf(err) != fault.Provider {
			t.Errorf("%s: %+v, %v", name, said, err)
		}
	}
}

// A call says nothing of where the model writes its thoughts.
func TestCallsShowNoThoughts(t *testing.T) {
	t.Parallel()
	client := serveAs(t, Config{ChatModel: "m"}, say(200, `{"choices":[{"message":{"tool_calls":[{"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`))
	if _, err := client.Complete(t.Context(), withTool()); err != nil || client.thinks.Load() != thinksUnknown {
		t.Errorf("%d, %v", client.thinks.Load(), err)
	}
}

// A server that takes no tools, or not all that belongs to them, is asked without, and remembered.
func TestToolDialects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse  func(http.ResponseWriter, string)
		refuses func(body map[string]any) bool
		tools   bool
	}{
		"vLLM 0.32.0":   {status(400, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}}`), has("tools"), false},
		"Ollama 0.17.4": {status(400, `{"error":{"message":"registry.ollama.ai/library/gemma:latest does not support tools","type":"api_error","param":null,"code":null}}`), has("tools"), false},
		"llama.cpp":     {status(500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`), has("tools"), false},
		"OpenRouter":    {status(404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`), has("tools"), false},
		"parallel":      {status(400, `{"error":{"message":"Unrecognized request argument supplied: parallel_tool_calls"}}`), has("parallel_tool_calls"), true},
		"strict": {status(422, `{"detail":[{"loc":["body","tools",0,"function","strict"],"msg":"Extra inputs are not permitted"}]}`), func(body map[string]any) bool {
			return strings.Contains(fmt.Sprint(body["tools"]), "strict")
		}, true},
		"strict, as the tools": {status(400, `{"error":{"message":"invalid value for parameter 'tools'"}}`), func(body map[string]any) bool {
			return strings.Contains(fmt.Sprint(body["tools"]), "strict")
		}, true},
		"schema": {status(400, `{"error":{"message":"Unknown name \"additionalProperties\" at 'tools[0].function'"}}`), func(body map[string]any) bool {
			return strings.Contains(fmt.Sprint(body["tools"]), "additionalProperties")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var last map[string]any
			var noticed []any
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				last = nil
				_ = json.NewDecoder(r.Body).Decode(&last)
				if c.refuses(last) {
					c.refuse(w, "")
					return
				}
				say(200, `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`)(w, r)
			}))
			t.Cleanup(server.Close)
			client := New(Config{BaseURL: server.URL, ChatModel: "m", Notice: func(_ string, args ...any) { noticed = append(noticed, args...) }})
			for range 2 {
				asked = 0
				if said, err := client.Complete(t.Context(), withTool()); err != nil || said.Text != "Hi" {
					t.Fatal(said, err)
				}
			}
			if has("tools")(last) != c.tools || asked != 1 {
				t.Errorf("the second time %d requests, the last %v", asked, last)
			}
			if says := strings.Contains(fmt.Sprint(noticed...), "counts and lists of tickets are off"); says == c.tools || len(noticed) != 6 {
				t.Errorf("the log says %v", noticed)
			}
		})
	}
}

func has(field string) func(map[string]any) bool {
	return func(body map[string]any) bool { return body[field] != nil }
}
