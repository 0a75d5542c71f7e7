package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
	"tasklens/internal/vector"
)

// peculiar is a server that speaks OpenAI's protocol in its own way.
type peculiar struct {
	refused []string                                          // fields; "system" is the role
	refuse  func(w http.ResponseWriter, what string)          // how it refuses them; by default with OpenAI's error
	most    int                                               // inputs
	longest int                                               // bytes of an input
	embed   func(w http.ResponseWriter, inputs []string) bool // answers in its own way
	content []any                                             // contents of deltas, the last ones after the first
	finish  string                                            // reason, a JSON value

	mutex    sync.Mutex
	requests []map[string]any
}

func (p *peculiar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	p.mutex.Lock()
	p.requests = append(p.requests, body)
	p.mutex.Unlock()
	for _, field := range p.refused {
		kind, wanted, _ := strings.Cut(field, ":")
		value, has := body[kind]
		if wanted != "" && has {
			has = value.(map[string]any)["type"] == wanted
		}
		if messages, is := body["messages"].([]any); is && field == "system" {
			has = messages[0].(map[string]any)["role"] == "system"
		}
		if has {
			p.refuse(w, kind)
			return
		}
	}
	if inputs, is := body["input"].([]any); is {
		p.embedAll(w, r, inputs)
		return
	}
	if body["stream"] != true {
		message, _ := json.Marshal(p.content[0])
		if len(p.content) > 1 {
			whole := ""
			for _, piece := range p.content {
				whole += piece.(string)
			}
			message, _ = json.Marshal(whole)
		}
		say(200, `{"model":"m","choices":[{"message":{"content":`+string(message)+`},"finish_reason":`+p.finish+`}]}`)(w, r)
		return
	}
	var data []string
	for _, piece := range p.content {
		text, _ := json.Marshal(piece)
		data = append(data, `{"choices":[{"delta":{"content":`+string(text)+`}}]}`)
	}
	events(append(data, `{"choices":[{"delta":{},"finish_reason":`+p.finish+`}]}`, "[DONE]")...)(w, r)
}

func (p *peculiar) embedAll(w http.ResponseWriter, r *http.Request, given []any) {
	inputs := make([]string, len(given))
	for i := range given {
		inputs[i] = given[i].(string)
	}
	if p.embed != nil && p.embed(w, inputs) {
		return
	}
	if p.most > 0 && len(inputs) > p.most {
		p.refuse(w, fmt.Sprintf("batch size %d > maximum allowed batch size %d", len(inputs), p.most))
		return
	}
	var data []string
	for i, input := range inputs {
		if p.longest > 0 && len(input) > p.longest {
			p.refuse(w, "the input length exceeds the context length")
			return
		}
		data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(input)))
	}
	say(200, `{"data":[`+strings.Join(data, ",")+`]}`)(w, r)
}

// client returns a client of the server, of which nothing is known.
func (p *peculiar) client(t *testing.T) *Client {
	t.Helper()
	if p.refuse == nil {
		p.refuse = status(400, `{"error":{"message":"Unsupported parameter: %q is not supported with this model.","type":"invalid_request_error","param":null,"code":null}}`)
	}
	if p.finish == "" {
		p.finish = `"stop"`
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return New(Config{BaseURL: server.URL, EmbeddingModel: "e", ChatModel: "m", AttemptTimeout: time.Minute, CircuitFailures: 3, CircuitPause: time.Hour})
}

// status refuses with a body, in which %q or %s is what is refused.
func status(code int, body string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, what string) {
		text := body
		if strings.Contains(body, "%") {
			text = fmt.Sprintf(body, what)
		}
		say(code, text)(w, nil)
	}
}

// refusals are the same refusal in the words of many servers.
var refusals = map[string]func(http.ResponseWriter, string){
	"OpenAI's":        nil,
	"a text":          status(400, `{"error":"extra field %s"}`),
	"FastAPI":         status(422, `{"detail":[{"type":"extra_forbidden","loc":["body","%s"],"msg":"Extra inputs are not permitted","input":{"messages":"max_tokens dimensions"}}]}`),
	"Mistral":         status(422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","%s"],"msg":"not allowed"}]},"type":"invalid_request_error"}`),
	"a message":       status(400, `{"message":"unknown parameter %s","code":20015}`),
	"a list":          status(400, `[{"error":{"code":400,"message":"Unknown name \"%s\"","status":"INVALID_ARGUMENT"}}]`),
	"HTML":            status(400, `<html><body><h1>Bad request</h1>%s</body></html>`),
	"nothing":         status(400, ``),
	"with status 200": status(200, `{"error":{"code":400,"message":"%s is unknown"}}`),
}

// A request is repeated in the dialect of the server, which the next one speaks at once.
func TestDialects(t *testing.T) {
	t.Parallel()
	for name, refuse := range refusals {
		for _, refused := range [][]string{
			{"max_completion_tokens"}, {"stream_options"}, {"encoding_format"}, {"response_format:json_schema"}, {"response_format"},
			{"max_completion_tokens", "stream_options"}, {"max_completion_tokens", "max_tokens"},
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

// A server without a system role gets the text before the user's.
func TestNoSystemRole(t *testing.T) {
	t.Parallel()
	server := &peculiar{refused: []string{"system"}, refuse: status(400, `{"error":{"message":"Only user and assistant roles are supported: System role not supported"}}`), content: []any{"Hi"}}
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
	if _, err := client.Complete(t.Context(), chat.Request{MaxTokens: 5}); err != nil || server.requests[len(server.requests)-1]["max_completion_tokens"] == nil {
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

func texted(n, length int) []string {
	return slices.Repeat([]string{strings.Repeat("ab ", length/3)}, n)
}

// Requests become as small as the server wants them, and stay so if that is its limit.
func TestSmallerRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse func(http.ResponseWriter, string)
		most   int
	}{
		"TEI": {status(422, `{"error":"%s","error_type":"Validation"}`), 32}, "DashScope": {status(400, `{"error":{"message":"%s","code":"InvalidParameter"}}`), 10},
		"nothing": {status(413, ``), 10}, "a proxy": {status(413, `<html>Request Entity Too Large</html>`), 3}, "one": {status(400, `{"message":"no"}`), 1},
		"llama.cpp": {status(500, `{"error":{"code":500,"message":"input is too large to process: %s"}}`), 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &peculiar{most: c.most, refuse: c.refuse}
			client := server.client(t)
			for call := range 2 {
				server.requests = nil
				vectors, cut, err := client.Embed(t.Context(), "e", texted(200, 30))
				if err != nil || len(vectors) != 200 || cut != nil || slices.ContainsFunc(vectors, func(v vector.Vector) bool { return v == nil }) {
					t.Fatalf("%d vectors, %d cut, %v", len(vectors), cut, err)
				}
				if limit := client.inputLimit("e"); call == 1 && (limit > c.most || len(server.requests) != (200+limit-1)/limit) {
					t.Errorf("with a limit of %d there are %d requests, at %d", c.most, len(server.requests), limit)
				}
			}
			if client.OpenCircuits() != nil {
				t.Error("the circuit breaker is open")
			}
		})
	}
}

// One text that a model refuses is cut, or left out, and changes nothing for the others.
func TestOneOddText(t *testing.T) {
	t.Parallel()
	long, inputs := texted(1, 3000)[0], texted(40, 90)
	for name, c := range map[string]struct {
		server *peculiar
		cut    []int
	}{
		"too long":         {&peculiar{longest: 1000, refuse: status(413, `{"error":"Input validation error: %s"}`)}, []int{17}},
		"too long, by 400": {&peculiar{longest: 1000, refuse: status(400, `{"error":"%s"}`)}, []int{17}},
		"too long, by 500": {&peculiar{longest: 1000, refuse: status(500, `{"error":{"message":"%s"}}`)}, []int{17}},
		"refused":          {&peculiar{longest: 1000, refuse: status(400, `{"error":"invalid character"}`)}, nil},
		"the filter":       {&peculiar{longest: 1000, refuse: status(403, `{"error":{"code":"content_filter","message":"no"}}`)}, nil},
		"crashes on it":    {&peculiar{longest: 1000, refuse: status(500, `{"error":"oops"}`)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := c.server
			client := server.client(t)
			given := slices.Clone(inputs)
			given[17] = long
			vectors, cut, err := client.Embed(t.Context(), "e", given)
			if !slices.Equal(cut, c.cut) || (err == nil) != (c.cut != nil) || err != nil && !errors.Is(err, fault.ErrInput) || len(vectors) != 40 {
				t.Fatalf("%d vectors, %d cut, %v", len(vectors), cut, err)
			}
			for i, v := range vectors {
				if (v == nil) != (i == 17 && c.cut == nil) {
					t.Errorf("input %d has a vector of %d numbers", i, len(v))
				}
			}
			if client.inputLimit("e") != maxInputs || client.OpenCircuits() != nil {
				t.Errorf("later requests have %d inputs, the open circuits are %v", client.inputLimit("e"), client.OpenCircuits())
			}
		})
	}
}

// A server that refuses everything is asked a few times, not once for each text.
func TestAllTextsAreRefused(t *testing.T) {
	t.Parallel()
	server := &peculiar{refused: []string{"input"}, refuse: status(400, `{"error":"no"}`)}
	vectors, _, err := server.client(t).Embed(t.Context(), "e", texted(64, 30))
	if err == nil || vectors != nil || errors.Is(err, fault.ErrInput) || len(server.requests) > 20 {
		t.Errorf("%d vectors after %d requests, %v", len(vectors), len(server.requests), err)
	}
}

// A server that is too slow for many inputs embeds fewer at a time.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	server := &peculiar{}
	server.embed = func(_ http.ResponseWriter, inputs []string) bool {
		if len(inputs) > 5 {
			time.Sleep(time.Second)
			return true
		}
		return false
	}
	client := server.client(t)
	client.silence = 300 * time.Millisecond
	vectors, _, err := client.Embed(t.Context(), "e", texted(20, 30))
	if err != nil || len(vectors) != 20 || client.inputLimit("e") != 5 || client.OpenCircuits() != nil {
		t.Errorf("%d vectors at %d a request, %v", len(vectors), client.inputLimit("e"), err)
	}
}

// The order of the inputs counts where the server leaves out all indexes, or that of the first.
func TestIndexes(t *testing.T) {
	t.Parallel()
	for data, good := range map[string]bool{
		`{"embedding":[3,4]},{"embedding":[0,1]}`:                        true,
		`{"index":1,"embedding":[0,1]},{"embedding":[3,4]}`:              true,
		`{"index":null,"embedding":[3,4]},{"index":1,"embedding":[0,1]}`: true,
		`{"index":0,"embedding":[3,4]},{"embedding":[0,1]}`:              false,
		`{"index":1,"embedding":[3,4]},{"index":1,"embedding":[0,1]}`:    false,
		`{"index":0,"embedding":[3,4]},{"index":0,"embedding":[0,1]}`:    false,
	} {
		vectors, _, err := serve(t, say(200, `{"data":[`+data+`]}`)).Embed(t.Context(), "e", []string{"a", "b"})
		if (err == nil) != good || good && (vectors[0][0] != 0.6 || vectors[1][1] != 1) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// The status decides, whatever the body.
func TestErrorsOfAnyForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		headers map[string]string
		code    fault.Code
		retry   time.Duration
		key     bool
		opens   bool
		log     string
	}{
		"text":           {429, `{"error":"too busy, come back","error_type":"Overloaded"}`, map[string]string{"Retry-After": "2.5"}, fault.Unavailable, 2500 * time.Millisecond, false, false, "429 Overloaded: too busy, come back"},
		"milliseconds":   {429, `busy`, map[string]string{"Retry-After-Ms": "3100"}, fault.Unavailable, 3100 * time.Millisecond, false, false, "429 : busy"},
		"HTML":           {429, "<html><style>p{}</style><h1>Too many\n requests</h1></html>", nil, fault.Unavailable, limitedPause, false, false, "429 : Too many requests"},
		"a list":         {429, `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]`, nil, fault.Unavailable, limitedPause, false, false, "429 429: slow"},
		"status 200":     {200, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, nil, fault.Unavailable, limitedPause, false, false, "429 rate_limit_exceeded: slow down"},
		"200, by number": {200, `{"error":{"message":"slow down","code":429}}`, nil, fault.Unavailable, limitedPause, false, false, "429 429: slow down"},
		"200, by text":   {200, `{"error":{"message":"Rate limit reached, slow down"}}`, nil, fault.Unavailable, limitedPause, false, false, "429 : Rate limit reached"},
		"a list, 200":    {200, `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`, nil, fault.Provider, 0, false, true, "503 503: overloaded"},
		"200, no code":   {200, `{"error":"it broke"}`, nil, fault.Provider, 0, false, true, "502 : it broke"},
		"key":            {403, `{"detail":"not authenticated"}`, nil, fault.Provider, 0, true, true, "403 : not authenticated"},
		"model":          {404, `{"error":"model not found, try pulling it first"}`, nil, fault.Provider, 0, false, false, "404 : model not found"},
		"too large":      {413, ``, nil, fault.Provider, 0, false, false, "413 : "},
		"too large, 429": {429, `{"error":{"message":"Request too large for m: Limit 10, Requested 20","code":"rate_limit_exceeded"}}`, nil, fault.Provider, 0, false, false, "413"},
		"method":         {405, `{"detail":"Method Not Allowed"}`, nil, fault.Provider, 0, false, false, "405"},
		"quota":          {429, `{"error":{"type":"insufficient_quota","message":"m"}}`, nil, fault.Provider, 0, false, true, "429 insufficient_quota"},
		"an outage":      {503, `no healthy upstream`, nil, fault.Provider, 0, false, true, "503 : no healthy upstream"},
		"long":           {400, `{"message":"` + strings.Repeat("x", 999) + `"}`, nil, fault.Provider, 0, false, false, strings.Repeat("x", loggedText) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for act, ask := range map[string]func(*Client) error{
				"embed": func(client *Client) error { _, _, err := client.Embed(t.Context(), "e", []string{"a"}); return err },
				"complete": func(client *Client) error {
					_, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1})
					return err
				},
				"stream": func(client *Client) error { _, _, err := told(client); return err },
			} {
				client, _ := counting(t, func(w http.ResponseWriter, r *http.Request) {
					for header, value := range c.headers {
						w.Header().Set(header, value)
					}
					say(c.status, c.body)(w, r)
				}, Config{CircuitFailures: 1, CircuitPause: time.Hour})
				err := ask(client)
				var failure *fault.Error
				if !errors.As(err, &failure) || failure.Code != c.code || failure.RetryAfter.Round(time.Millisecond) != c.retry || errors.Is(err, fault.ErrKey) != c.key {
					t.Errorf("%s: the error is %v", act, err)
				}
				if err == nil || !strings.Contains(err.Error(), c.log) || strings.Contains(failure.Message, "busy") {
					t.Errorf("%s: the log has %v", act, err)
				}
				if opened := client.OpenCircuits() != nil; opened != c.opens {
					t.Errorf("%s: the circuit breaker is open: %v", act, opened)
				}
			}
		})
	}
}

// A date says when to come back.
func TestRetryAfterADate(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	client, _ := counting(t, headed(say(429, `{}`), "Retry-After", at), Config{})
	_, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1})
	if failure, is := errors.AsType[*fault.Error](err); !is || failure.RetryAfter < 60*time.Second || failure.RetryAfter > 90*time.Second {
		t.Errorf("the error is %+v", failure)
	}
}

// What a provider's filter refuses is an answer that says so.
func TestFilteredPrompts(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"Azure":           say(400, `{"error":{"code":"content_filter","message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy."}}`),
		"403":             say(403, `{"error":{"message":"requires moderation","code":403,"metadata":{"reasons":["violence"]}}}`),
		"policy":          say(400, `{"error":{"code":"content_policy_violation"}}`),
		"a text":          say(400, `{"error":"blocked by content filter"}`),
		"finish_reason":   say(200, `{"choices":[{"message":{"content":""},"finish_reason":"SAFETY"}]}`),
		"a guardrail":     say(403, `{"message":"blocked by guardrails","code":"guardrail_intervened"}`),
		"LiteLLM":         say(400, `{"error":{"message":"litellm.ContentPolicyViolationError: it was filtered due to the content management policy","type":null,"code":"400"}}`),
		"with status 200": say(200, `{"error":{"message":"blocked by the content filter"}}`),
		"within a stream": headed(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("data: {\"error\":{\"code\":\"content_filter\"}}\n\n"))
		}, "Content-Type", "text/event-stream"),
		"no choices": say(200, `{"choices":[],"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`),
	} {
		for act, ask := range map[string]func(*Client) (chat.Completion, error){
			"complete": func(client *Client) (chat.Completion, error) {
				return client.Complete(t.Context(), chat.Request{MaxTokens: 1})
			},
			"stream": func(client *Client) (chat.Completion, error) { _, said, err := told(client); return said, err },
		} {
			client, _ := counting(t, handler, Config{CircuitFailures: 1, CircuitPause: time.Hour})
			if said, err := ask(client); err != nil || said.Finish != chat.FinishFilter || said.Text != "" || client.OpenCircuits() != nil {
				t.Errorf("%s, %s: %+v, %v", name, act, said, err)
			}
		}
	}
}

// Thoughts are no part of the answer, whole or streamed, however they arrive.
func TestThoughts(t *testing.T) {
	t.Parallel()
	const thought, answer = "Source [3] may be it. I first thought so. ", "It was the valve [1].\n\nUse `<think>` and `</think>` in prompts."
	for name, c := range map[string]struct {
		text   string
		want   string
		finish string
		think  bool
	}{
		"none":                   {answer, answer, `"stop"`, false},
		"a tag":                  {"<think>\n" + thought + "\n</think>\n\n" + answer, answer, `"stop"`, true},
		"upper case":             {" <Thinking>" + thought + "</Thinking>" + answer, answer, `"stop"`, true},
		"reasoning":              {"<reasoning>" + thought + "</reasoning>\n" + answer, answer, `"stop"`, true},
		"only closed":            {thought + "\n</think>\n\n" + answer, answer, `"stop"`, true},
		"empty":                  {"<think>\n\n</think>\n\n" + answer, answer, `"stop"`, true},
		"only its end, at once":  {"</think>" + answer, answer, `"stop"`, true},
		"twice":                  {"<think>a</think>\n<think>b</think>" + answer, answer, `"stop"`, true},
		"unclosed":               {"<think>" + thought, "", `"length"`, true},
		"Magistral":              {"[THINK]" + thought + "[/THINK]" + answer, answer, `"stop"`, true},
		"channels":               {"<|channel|>analysis<|message|>" + thought + "<|end|><|start|>assistant<|channel|>final<|message|>" + answer, answer, `"stop"`, true},
		"channels, to the end":   {"<|channel|>analysis<|message|>" + thought + "<|end|><|start|>assistant<|channel|>final<|message|>" + answer + "<|return|>", answer, `"stop"`, true},
		"an attribute":           {`<think effort="high">` + thought + "</think>" + answer, answer, `"stop"`, true},
		"after a token":          {"<｜begin▁of▁sentence｜><think>" + thought + "</think>" + answer + "<｜end▁of▁sentence｜>", answer, `"stop"`, true},
		"tokens":                 {"<|START_THINKING|>" + thought + "<|END_THINKING|><|START_RESPONSE|>" + answer + "<|END_RESPONSE|>\n", answer, `"stop"`, true},
		"a solution":             {"<|begin_of_thought|>" + thought + "<|end_of_thought|>\n\n<|begin_of_solution|>" + answer + "<|end_of_solution|>", answer, `"stop"`, true},
		"unused tokens":          {"<unused94>thought\n" + thought + "<unused95>" + answer, answer, `"stop"`, true},
		"Kimi":                   {"◁think▷" + thought + "◁/think▷" + answer, answer, `"stop"`, true},
		"details":                {"<details type=\"reasoning\" done=\"true\">\n<summary>Thought</summary>\n" + thought + "</details>\n" + answer, answer, `"stop"`, true},
		"other details":          {"Yes. <details><summary>Why</summary>So.</details> a < b <", "Yes. <details><summary>Why</summary>So.</details> a < b <", `"stop"`, false},
		"a token is the subject": {"It ends with <|im_end|>, a token.\n", "It ends with <|im_end|>, a token.\n", `"stop"`, false},
		"a citation":             {"[1] is the cause.", "[1] is the cause.", `"stop"`, false},
		"a comparison":           {"<3 and > 2", "<3 and > 2", `"stop"`, false},
		"a mark is the subject":  {"The prompt ends with `</think>`.", "The prompt ends with `</think>`.", `"stop"`, false},
		"no finish_reason":       {"<think>a</think>" + answer, answer, `null`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size < 12; size += 5 {
				server := &peculiar{finish: c.finish}
				for rest := []rune(c.text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
					server.content = append(server.content, string(rest[:min(size, len(rest))]))
				}
				for _, first := range []bool{true, false} {
					client := server.client(t)
					if !first {
						if said, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1000}); err != nil || said.Text != c.want || said.Thought != c.think {
							t.Errorf("whole: %+v, %v", said, err)
						}
					}
					pieces, said, err := told(client)
					if err != nil || said.Text != c.want || strings.Join(pieces, "") != c.want || said.Thought != c.think {
						t.Errorf("streamed: %q, %+v, %v", pieces, said, err)
					}
					if !first && !c.think && size == 1 && len(pieces) < len(c.want)/2 {
						t.Errorf("a model that does not think streams %d pieces", len(pieces))
					}
				}
			}
		})
	}
}

// What the server separates is left out too, and the text remains a stream.
func TestSeparateThoughts(t *testing.T) {
	t.Parallel()
	thinking := `"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]`
	for name, data := range map[string][]string{
		"parts":             {delta(thinking, "null"), delta(`"content":[{"type":"text","text":"Hi "}]`, "null"), delta(`"content":[{"type":"text","text":"there"}]`, `"stop"`)},
		"reasoning_content": {delta(`"reasoning_content":"Hm."`, "null"), delta(`"content":"Hi ","reasoning_content":null`, "null"), delta(`"content":"there"`, `"stop"`)},
		"both names":        {delta(`"reasoning_content":"Hm.","reasoning":""`, "null"), delta(`"content":"Hi "`, "null"), delta(`"content":"there"`, `"stop"`)},
		"reasoning":         {delta(`"reasoning":"Hm.","content":""`, "null"), delta(`"content":"Hi "`, "null"), delta(`"content":"there"`, `"stop"`)},
	} {
		server := httptest.NewServer(events(append(data, "[DONE]")...))
		t.Cleanup(server.Close)
		pieces, said, err := told(New(Config{BaseURL: server.URL, ChatModel: "m"}))
		if err != nil || said.Text != "Hi there" || !said.Thought || len(pieces) != 2 {
			t.Errorf("%s: %q, %+v, %v", name, pieces, said, err)
		}
	}
	said, err := serve(t, say(200, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Hi"}]},"finish_reason":"stop"}]}`)).Complete(t.Context(), chat.Request{MaxTokens: 1})
	if err != nil || said.Text != "Hi" || !said.Thought {
		t.Errorf("whole: %+v, %v", said, err)
	}
	said, err = serve(t, say(200, `{"choices":[{"message":{"content":"","reasoning_content":"Hm, hm"},"finish_reason":"length"}]}`)).Complete(t.Context(), chat.Request{MaxTokens: 1})
	if err != nil || said.Text != "" || !said.Thought || said.Finish != chat.FinishLength {
		t.Errorf("all room used up: %+v, %v", said, err)
	}
}

// JSON is read with a fence, a sentence or thoughts around it.
func TestJSONWithinText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":"b"}`, "```json\n{\"a\":\"b\"}\n```", "Here you are: {\"a\":\"b\"}\nAnything else?", "<think>{or so}</think>{\"a\":\"b\"}", "{or so}</think>\n{\"a\":\"b\"}"} {
		server := &peculiar{content: []any{text}}
		if said, err := server.client(t).CompleteJSON(t.Context(), "", "", 9, chat.Schema{Name: "x"}); err != nil || said.Text != `{"a":"b"}` {
			t.Errorf("%q: %+v, %v", text, said, err)
		}
	}
}

// Streams end in many ways.
func TestEndsOfStreams(t *testing.T) {
	t.Parallel()
	raw := func(text string) http.HandlerFunc {
		return headed(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }, "Content-Type", "text/event-stream; charset=utf-8")
	}
	piece := "data: " + delta(`"content":"Hi"`, "null") + "\n\n"
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		good    bool
	}{
		"[DONE] alone ends it":          {raw(piece + "data: [DONE]\n\n"), true},
		"no line after [DONE]":          {raw(piece + "data: [DONE]"), true},
		"no space, and a carriage":      {raw(strings.ReplaceAll(strings.ReplaceAll(piece, "\n", "\r\n"), "data: ", "data:") + "data:[DONE]\r\n\r\n"), true},
		"a reason alone":                {raw("data: " + delta(`"content":"Hi"`, `"stop"`) + "\n"), true},
		"neither":                       {raw(piece), false},
		"a server that does not stream": {say(200, "\n"+`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`), true},
		"an error with status 200":      {say(200, `{"error":"no"}`), false},
		"an error beside choices":       {raw(piece + `data: {"error":{"code":502,"message":"gone"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n"), false},
	} {
		pieces, said, err := told(serve(t, c.handler))
		if (err == nil) != c.good || c.good && (said.Text != "Hi" || len(pieces) != 1) {
			t.Errorf("%s: %q, %+v, %v", name, pieces, said, err)
		}
	}
}

// Comments show that a server works on an answer.
func TestCommentsKeepAStreamAlive(t *testing.T) {
	t.Parallel()
	client := serveFor(t, 400*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 12 {
			_, _ = w.Write([]byte(": keep-alive\n\n"))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		events(delta(`"content":"Hi"`, `"stop"`))(w, r)
	})
	if _, said, err := told(client); err != nil || said.Text != "Hi" {
		t.Errorf("%+v, %v", said, err)
	}
}
