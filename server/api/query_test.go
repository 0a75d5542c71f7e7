package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
)

type answered struct {
	Answer         string
	Sources        []source
	LowSimilarity  bool     `json:"low_similarity"`
	BestSimilarity *float64 `json:"best_similarity"`
	Cached         bool
	Model          string
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

// What a question names is found whatever its similarity, embedded or not, in every retrieval.
func TestQueryOfWhatIsNotEmbedded(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	s.load(checkout, []ticket{{Key: "TX-777", Project: "TX", Name: "Zorblax of the frobnicator", Description: "Nobody has embedded this."}})
	for _, retrieval := range []string{"vector", "hybrid"} {
		for _, corpus := range []string{"tickets", "all"} {
			more := map[string]any{"retrieval": retrieval, "corpus": corpus, "match_threshold": 1}
			for _, question := range []string{"What is TX-777?", "What about the zorblax of a frobnicator?", "zorblax frobnicators"} {
				got := s.ask(question, more)
				if !got.LowSimilarity || got.BestSimilarity == nil || len(got.Sources) == 0 || *got.Sources[0].TicketID != s.ids["TX-777"] ||
					got.Sources[0].Similarity != nil || got.Sources[0].ChunkID != "" || !strings.Contains(got.Sources[0].Text, "Nobody has embedded") {
					t.Errorf("%q, %v: %+v", question, more, got)
				}
			}
		}
	}
}
