package offline

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// stream sends a reply as server-sent events: a chunk with the role, one for each piece, two for a
// call, one with the finish reason, the usage if there is one, and [DONE]. It stops if the client
// disconnects.
func (s reply) stream(w http.ResponseWriter, r *http.Request, chunk object) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	chunk["object"] = "chat.completion.chunk"
	deltas := []object{{"role": "assistant", "content": ""}}
	for _, piece := range s.pieces {
		deltas = append(deltas, object{"content": piece})
	}
	if half := len(s.arguments) / 2; s.tool != "" {
		deltas = append(deltas,
			object{"tool_calls": []object{{"index": 0, "id": callID, "type": "function", "function": object{"name": s.tool, "arguments": s.arguments[:half]}}}},
			object{"tool_calls": []object{{"index": 0, "function": object{"arguments": s.arguments[half:]}}}})
	}
	var chunks [][]object
	for _, delta := range deltas {
		chunks = append(chunks, []object{{"index": 0, "delta": delta, "finish_reason": nil}})
	}
	chunks = append(chunks, []object{{"index": 0, "delta": object{}, "finish_reason": s.finish}})
	if s.usage != nil {
		chunks = append(chunks, []object{})
	}
	for i, choices := range chunks {
		chunk["choices"] = choices
		if s.usage != nil && i == len(chunks)-1 {
			chunk["usage"] = s.usage
		}
		data, _ := json.Marshal(chunk) // strings, numbers and lists of them
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil || r.Context().Err() != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
