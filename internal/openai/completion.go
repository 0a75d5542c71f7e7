package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"tasklens/internal/chat"
)

// completion is an answer as it arrives: whole, or event by event.
type completion struct {
	said     chat.Completion
	tell     func(piece string) error // nil: nobody listens
	text     strings.Builder
	thoughts thoughts
	calls    map[int][]byte // arguments so far, by the call's index
}

// part is a whole answer, or an event of a stream.
type part struct {
	Model   string `json:"model"`
	Choices []struct {
		Message words  `json:"message"`
		Delta   words  `json:"delta"`
		Finish  string `json:"finish_reason"`
		Error   any    `json:"error"`
	} `json:"choices"`
	Usage struct {
		In  any `json:"prompt_tokens"` // a count of another form costs no answer
		Out any `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// words are what the model says, and what it thinks where the server separates it.
type words struct {
	Content          any    `json:"content"` // a text, or a list of parts
	Refusal          string `json:"refusal"`
	ReasoningContent any    `json:"reasoning_content"`
	Reasoning        any    `json:"reasoning"`
	ToolCalls        []struct {
		Index    int `json:"index"` // in a stream
		Function struct {
			Arguments json.RawMessage `json:"arguments"` // a text; of some servers the object itself
		} `json:"function"`
	} `json:"tool_calls"`
}

// split returns the text, and whether there is a thought beside it.
func (w words) split() (text string, thought bool) {
	thought = strings.Join(texts([]any{w.ReasoningContent, w.Reasoning}), "") != ""
	parts, _ := w.Content.([]any)
	switch w.Content.(type) {
	case string, map[string]any:
		parts = []any{w.Content}
	}
	var whole strings.Builder
	for _, p := range parts {
		if piece, is := p.(string); is {
			whole.WriteString(piece)
		} else if p, is := p.(map[string]any); is && (p["type"] == nil || p["type"] == "text" || p["type"] == "output_text") {
			more, _ := p["text"].(string)
			whole.WriteString(more)
		} else {
			thought = true
		}
	}
	return whole.String(), thought
}

// Reasons for which a model ends, in providers' words.
var (
	endLength = regexp.MustCompile(`(?i)^(max_?(output_|completion_)?tokens|(model_)?length)$`)
	endFailed = regexp.MustCompile(`(?i)error|abort|cancel|fail|insufficient|overload|time_?out`)
	endFilter = regexp.MustCompile(`(?i)^(safety|recitation|blocklist|prohibited_content|spii|sensitive)$|filter|policy|block`)
)

// add takes a whole answer or an event.
func (c *completion) add(data []byte) error {
	var p part
	err := decode(data, &p)
	if err != nil || len(p.Choices) == 0 || len(p.Error) > 0 {
		refused := readRefusal(http.StatusOK, nil, data)
		switch {
		case refused != nil && !refused.isFilter():
			return refused
		case refused == nil && err != nil:
			return fmt.Errorf("read the answer: %w", err)
		}
		if refused != nil || sayFilter.Match(data) && count(p.Usage.Out) == 0 && c.text.Len() == 0 && bytes.Contains(data, []byte("eason")) {
			c.said.Finish = chat.FinishFilter // what came before it stays
		}
	}
	if p.Model != "" {
		c.said.Model = p.Model
	}
	if in, out := count(p.Usage.In), count(p.Usage.Out); in+out != 0 {
		c.said.TokensIn, c.said.TokensOut = in, out
	}
	if len(p.Choices) == 0 {
		return nil
	}
	choice := p.Choices[0]
	if choice.Error != nil || endFailed.MatchString(choice.Finish) { // what came before is not the whole answer
		return &refusal{status: http.StatusBadGateway, code: choice.Finish, text: strings.Join(texts(choice.Error), " ")}
	}
	said := choice.Delta
	if !reflect.ValueOf(choice.Message).IsZero() && c.text.Len() == 0 {
		said = choice.Message
	}
	if err := c.call(said); err != nil {
		return err
	}
	text, thought := said.split()
	c.said.Thought, c.said.Refused = c.said.Thought || thought, c.said.Refused || said.Refusal != ""
	if thought { // the server separates thoughts from the text
		c.thoughts.silent = false
	}
	if choice.Finish != "" {
		c.said.Finish = choice.Finish
	}
	return c.pass(c.thoughts.write(text) + said.Refusal)
}

func count(value any) int {
	number, _ := value.(float64)
	return tokens(int64(number))
}

// maxCall is the most bytes of a call's arguments. No valid one is longer.
const maxCall = 16 << 10

// call adds what is said of calls. A whole answer has no indexes: its first call comes first.
func (c *completion) call(said words) error {
	for _, part := range said.ToolCalls {
		text := string(part.Function.Arguments)
		_ = json.Unmarshal(part.Function.Arguments, &text) // else it is the object itself
		if c.calls == nil {
			c.calls = map[int][]byte{}
		}
		if c.calls[part.Index] = append(c.calls[part.Index], text...); len(c.calls[part.Index]) > maxCall {
			return unusable("called a tool with more than %d bytes", maxCall)
		}
	}
	return nil
}

// called returns the arguments of the first call. Servers that give all calls one index write
// several objects in a row.
func (c *completion) called() string {
	if len(c.calls) == 0 {
		return ""
	}
	text := string(c.calls[slices.Min(slices.Collect(maps.Keys(c.calls)))])
	var first json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&first) == nil {
		text = string(first)
	}
	return cmp.Or(strings.TrimSpace(text), "{}")
}

func (c *completion) pass(text string) error {
	if text == "" {
		return nil
	}
	c.text.WriteString(text)
	if c.tell == nil {
		return nil
	}
	if err := c.tell(text); err != nil {
		return fmt.Errorf("%w: %w", errListener, err)
	}
	return nil
}

// looksLikeEvents matches a stream whose type a proxy has lost.
var looksLikeEvents = regexp.MustCompile(`^\s*(?:data|event|id|retry)?:`)

// read takes a response, which is a stream or whole, whatever was requested. arrived is called for
// all that arrives of a stream, comments too.
func (c *completion) read(ctx context.Context, response *http.Response, arrived func()) error {
	if !isStream(response) {
		content, err := io.ReadAll(response.Body)
		if err == nil && !looksLikeEvents.Match(content) {
			err = c.add(content)
		}
		if err != nil || !looksLikeEvents.Match(content) {
			return err
		}
		response.Body = io.NopCloser(bytes.NewReader(content))
	}
	// The decoder drops a last event without an empty line after it.
	response.Body = io.NopCloser(io.MultiReader(io.TeeReader(response.Body, arrival(arrived)), strings.NewReader("\n\n")))
	events, done := ssestream.NewDecoder(response), false
	for !done && events.Next() {
		if err := ctx.Err(); err != nil {
			return err // buffered data could go on for long
		}
		data := bytes.TrimSpace(events.Event().Data)
		if events.Event().Type == "error" && readRefusal(http.StatusOK, nil, data) == nil {
			return readRefusal(http.StatusBadGateway, nil, data)
		}
		if done = bytes.HasPrefix(data, []byte("[DONE]")); done || len(data) == 0 {
			continue
		}
		if err := c.add(data); err != nil {
			return err
		}
	}
	// A dropped connection looks like the end of the stream.
	if events.Err() == nil && !done && c.said.Finish == "" {
		return errors.New("the stream ended before the answer")
	}
	return events.Err()
}

// arrival is called for all that is read.
type arrival func()

func (a arrival) Write(p []byte) (int, error) { a(); return len(p), nil }

// What is known of where a model writes its thoughts.
const (
	thinksUnknown = iota
	thinksApart   // nowhere, between two marks, or where the server separates them
	thinksAhead   // before its text, which has only the closing mark
)

// end completes an answer. free: it could have any form, and shows where the model thinks.
func (c *completion) end(client *Client, free bool) error {
	switch {
	case endLength.MatchString(c.said.Finish):
		c.said.Finish = chat.FinishLength
	case endFilter.MatchString(c.said.Finish):
		c.said.Finish = chat.FinishFilter
	}
	ahead := client.thinks.Load() == thinksAhead
	if c.thoughts.silent && ahead && c.said.Finish == chat.FinishLength {
		c.thoughts.inside, c.thoughts.any = true, true
	}
	switch {
	case c.thoughts.unopened:
		client.thinks.Store(thinksAhead)
	case free && !ahead && len(c.calls) == 0 && c.said.Finish != chat.FinishLength && c.said.Finish != chat.FinishFilter:
		client.thinks.Store(thinksApart)
	}
	c.said.Thought, c.said.Call = c.said.Thought || c.thoughts.any, c.called()
	if err := c.pass(c.thoughts.close()); err != nil || c.text.Len() > 0 || c.said.Finish != "" || c.said.Thought || c.said.Call != "" {
		return err
	}
	return unusable("gave no answer")
}
