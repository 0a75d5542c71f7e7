package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keysOf returns the keys of the tickets among the sources, with a dash for a project's own text.
func keysOf(got answered) (keys []string) {
	for _, source := range got.Sources {
		if source.TicketKey == nil {
			keys = append(keys, "-")
		} else {
			keys = append(keys, *source.TicketKey)
		}
	}
	return keys
}

// The texts of tickets that a question names are sources even if nothing exceeds the threshold, and
// the model answers from them.
func TestQueryNames(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	over := map[string]any{"match_threshold": 1}
	for _, more := range []map[string]any{{}, {"retrieval": "hybrid"}, {"corpus": "all"}, {"mmr_lambda": 0}, {"mmr_lambda": 1}, {"top_k": 1}, {"project_id": s.ids["TX"]}} {
		for _, question := range []string{"What is the status of TX-400?", "what became of tx 400"} {
			got := s.ask(question, over, more)
			if !got.LowSimilarity || len(got.Sources) == 0 || keysOf(got)[0] != "TX-400" || got.BestSimilarity == nil ||
				*got.Sources[0].Similarity > *got.BestSimilarity || !strings.Contains(got.Answer, "TX-400 (") || !got.Sources[0].Cited {
				t.Errorf("%q, %v: %+v", question, more, got)
			}
		}
		got := s.ask("What's the main objective of the 'Checkout and Payments' project?", over, more)
		if !got.LowSimilarity || !slices.Contains(keysOf(got), "-") {
			t.Errorf("a project, %v: %+v", more, got)
		}
	}
	asked := len(s.model.requests("completions"))
	for _, more := range []map[string]any{{"project_id": s.ids["IAM"]}, {"status_filter": "no such"}, {"corpus": "documents"}} {
		if got := s.ask("What is the status of TX-400?", over, more); len(got.Sources) > 0 || !got.LowSimilarity {
			t.Errorf("within %v: %+v", more, got)
		}
	}
	if got := s.ask("What is the status of TX-99999?", over); len(got.Sources) > 0 || !strings.Contains(got.Answer, "nothing relevant") {
		t.Errorf("a ticket that is not there: %+v", got)
	}
	if again := len(s.model.requests("completions")); again != asked+3 { // but of documents, with the tool alone
		t.Errorf("the chat model was called %d times without sources, want 3", again-asked)
	}
	// Names boost, and never filter.
	plain, lifted := s.ask(doubleCharge), s.ask(doubleCharge+" Is it like TX-400?")
	if diff := cmp.Diff(plain.LowSimilarity, lifted.LowSimilarity); diff != "" || keysOf(lifted)[0] != "TX-400" || len(lifted.Sources) < 1 {
		t.Errorf("%+v, with a name %+v", plain, lifted)
	}
}
