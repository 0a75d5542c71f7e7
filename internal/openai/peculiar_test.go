package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
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
	return serveAs(t, Config{EmbeddingModel: "e", ChatModel: "m", AttemptTimeout: time.Minute, CircuitFailures: 3, CircuitPause: time.Hour}, p)
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
