package offline

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// stream sends the answer as server-sent events: a chunk with the role, one per piece, two per
// call, one with the finish reason, the usage if requested, and [DONE]. It stops if the client
// disconnects.
func (c completion) stream(w http.ResponseWriter, r *http.Request, pieces []string, calls []toolCall, finish string, used *usage, include bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	c.Object = "chat.completion.chunk"
	control, empty := http.NewResponseController(w), ""

	send := func(choices []choice, used *usage) bool {
		c.Choices, c.Usage = choices, used
		data, err := json.Marshal(c)
		if err != nil || r.Context().Err() != nil {
			return false
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
			return false
		}
		return control.Flush() == nil
	}
	if !send([]choice{{Delta: &answerText{Role: "assistant", Content: &empty}}}, nil) {
		return
	}
	for _, piece := range pieces {
		if !send([]choice{{Delta: &answerText{Content: &piece}}}, nil) {
			return
		}
	}
	for i, call := range calls {
		half := len(call.Function.Arguments) / 2
		opening, rest := call, toolCall{Index: &i, Type: call.Type}
		opening.Index, opening.Function.Arguments = &i, call.Function.Arguments[:half]
		rest.Function.Arguments = call.Function.Arguments[half:]
		if !send([]choice{{Delta: &answerText{Calls: []toolCall{opening}}}}, nil) || !send([]choice{{Delta: &answerText{Calls: []toolCall{rest}}}}, nil) {
			return
		}
	}
	if !send([]choice{{Delta: &answerText{}, FinishReason: &finish}}, nil) {
		return
	}
	if include && !send([]choice{}, used) {
		return
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
