package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
)

type answered struct {
	Answer         string
	Sources        []source
	LowSimilarity  bool     `json:"low_similarity"`
	BestSimilarity *float64 `json:"best_similarity"`
	Cached         bool
	Model          string
	Question       string
	ReadAs         *struct {
		Intent, Text string
		Filters      json.RawMessage
	} `json:"read_as"`
	Count  *int
	Groups []struct {
		Label *string
		Count int
	}
	Tickets []struct {
		TicketKey string `json:"ticket_key"`
	}
	Candidates json.RawMessage
}

type source struct {
	TicketID   *int64 `json:"ticket_id"`
	Similarity *float64
	TicketKey  *string `json:"ticket_key"`
	ChunkID    string  `json:"chunk_id"`
	Text       string
	Cited      bool
}

func (s *service) ask(question string, more ...map[string]any) answered {
	s.t.Helper()
	body := map[string]any{"question": question}
	for _, m := range more {
		maps.Copy(body, m)
	}
	return read[answered](s.post("/api/query", body))
}

// says makes the chat model return a text.
func (s *service) says(text, refusal, finish string) {
	s.t.Helper()
	message, err := json.Marshal(map[string]any{"model": "chat-2030", "choices": []any{map[string]any{
		"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": text, "refusal": refusal}}}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.model.answer("completions", http.StatusOK, string(message))
}

const doubleCharge = "Why was the customer charged twice for a payment?"
