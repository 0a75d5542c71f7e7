package answer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/chat"
	"tasklens/internal/search"
)

func says(text string) func(string, string) chat.Completion {
	return func(string, string) chat.Completion { return chat.Completion{Text: text, Finish: "stop"} }
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	db := &rows{rows: alike([]candidate{chunkOf(1, 1, 0.9, "alpha"), chunkOf(2, 1, 0.8, "beta")}, 0.1, nil)}
	m := &model{say: says("So it is [2], not [9].")}
	listener := &pieces{}
	got, err := New(m, Options{}).Answer(context.Background(), db, question(5, 0.5), &model{}, listener)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "So it is [2], not [9]." || got.Outcome != Answered || got.UnknownCitations != 1 || got.Model != "chatter" || got.LowSimilarity ||
		*got.BestSimilarity != 0.9 || got.Sources[0].Cited || !got.Sources[1].Cited || strings.Join(listener.told, "") != got.Text {
		t.Errorf("answer is %+v, told was %q", got, listener.told)
	}
	if want := (len(instructions) + len(m.messages[0])) / tokenBytes; got.TokensIn != want || got.TokensOut != 5 { // those that the provider does not count
		t.Errorf("tokens are %d and %d, want %d", got.TokensIn, got.TokensOut, want)
	}
	if got.Embedding <= 0 || got.Retrieval <= 0 || got.Chat <= 0 {
		t.Errorf("steps took %v, %v, %v", got.Embedding, got.Retrieval, got.Chat)
	}
	if db.function != "retrieve_chunks" || db.given["source_chunk_limit"] != 3 {
		t.Errorf("asked was %s %v", db.function, db.given)
	}
}

// Where nothing is relevant, the chat model is not called, and a listener receives the same text.
func TestAbstained(t *testing.T) {
	t.Parallel()
	low := chunkOf(1, 1, 0.4, "alpha")
	low.OverThreshold = false
	for name, found := range map[string][]candidate{"nothing": nil, "nothing near": {low}} {
		m, listener := &model{}, &pieces{}
		got, err := New(m, Options{}).Answer(context.Background(), &rows{rows: found}, question(5, 0.5), &model{}, listener)
		if err != nil || got.Text != nothingRelevant || got.Outcome != Abstained || !got.LowSimilarity || got.Sources == nil || len(got.Sources) > 0 ||
			(got.BestSimilarity == nil) != (len(found) == 0) || len(m.messages) > 0 || strings.Join(listener.told, "") != got.Text {
			t.Errorf("%s: %+v, %v; told was %q", name, got, err, listener.told)
		}
	}
}

// What the question names or holds whole is a source below the threshold, and without a similarity.
// Both values of retrieval mean the same, of any corpus.
func TestEveryRetrievalIsTheSame(t *testing.T) {
	t.Parallel()
	named := chunkOf(1, 1, 0, "alpha")
	named.OverThreshold, named.Named, named.Similarity = false, true, nil
	for _, corpus := range []Corpus{"", Tickets, Documents, All} {
		var asked []map[string]any
		for _, retrieval := range []string{"vector", "hybrid"} {
			db := &rows{rows: []candidate{named}}
			q := question(5, 0.5)
			q.Retrieval, q.Corpus = retrieval, corpus
			got, err := New(&model{say: says("So [1].")}, Options{}).Answer(t.Context(), db, q, &model{}, nil)
			if err != nil || len(got.Sources) != 1 || !got.LowSimilarity || !got.Sources[0].Cited || db.function != "retrieve_chunks" {
				t.Errorf("%s of %q: %s gave %+v, %v", retrieval, corpus, db.function, got, err)
			}
			asked = append(asked, db.given)
		}
		if diff := cmp.Diff(asked[0], asked[1]); diff != "" || asked[0]["question"] != question(5, 0.5).Text || asked[0]["corpus"] == "" {
			t.Errorf("asked of %q was %v: %s", corpus, asked[0], diff)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	found := []candidate{chunkOf(1, 1, 0.9, "alpha")}
	if _, err := New(&model{}, Options{}).Answer(context.Background(), &rows{}, question(5, 1), &model{embedErr: gone}, nil); !errors.Is(err, gone) {
		t.Errorf("embedding: %v", err)
	}
	if _, err := New(&model{say: says("So.")}, Options{}).Answer(context.Background(), &rows{rows: found}, question(5, 1), &model{}, &pieces{err: gone}); !errors.Is(err, gone) {
		t.Errorf("sources: %v", err)
	}
}

// Beyond the budget the least relevant source is dropped first, the later one of equals, and named
// sources last.
func TestFit(t *testing.T) {
	t.Parallel()
	row := func(ticket int64, similarity float64, tokens int) candidate {
		c := chunkOf(ticket, 1, similarity, strings.Repeat("x", tokenBytes*tokens))
		c.Tokens = tokens
		return c
	}
	unembedded := row(4, 0.1, 2*contextTokens)
	unembedded.Tokens = 0
	const half, third = contextTokens/2 - tagTokens, contextTokens/3 - tagTokens
	linked := row(1, 0.7, third)
	linked.Fields = &search.Fields{Links: slices.Repeat([]search.Link{{Kind: "child_of", Direction: "in", TicketKey: "TX-1", TicketName: strings.Repeat("x", 500)}}, 20)}
	for name, c := range map[string]struct {
		chosen []candidate
		want   []string
	}{
		"all":      {[]candidate{row(1, 0.9, third), row(2, 0.7, third), row(3, 0.8, third)}, []string{"1-1", "2-1", "3-1"}},
		"fields":   {[]candidate{row(2, 0.9, third), row(3, 0.8, third), linked}, []string{"2-1", "3-1"}},
		"two":      {[]candidate{row(1, 0.9, half), row(2, 0.7, half), row(3, 0.8, half)}, []string{"1-1", "3-1"}},
		"one more": {[]candidate{row(1, 0.9, half), row(3, 0.8, half+1)}, []string{"1-1"}},
		"equals":   {[]candidate{row(1, 0.9, half), row(2, 0.8, half), row(3, 0.8, half)}, []string{"1-1", "2-1"}},
		"named":    {[]candidate{named(row(1, -0.5, half)), row(2, 0.9, half), row(3, 0.8, half)}, []string{"1-1", "2-1"}},
		"text":     {[]candidate{row(1, 0.9, half), unembedded}, []string{"1-1"}},
		"none":     {nil, nil},
		"a single": {[]candidate{unembedded}, []string{"4-1"}},
	} {
		if diff := cmp.Diff(c.want, ids(fit(c.chosen))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A ticket's fields stand with each of its sources, and count against the budget with each.
func TestFieldsOfWhatFits(t *testing.T) {
	t.Parallel()
	assignee := "Ada"
	given := &search.Fields{Assignee: &assignee, Labels: []string{strings.Repeat("x", maxAttribute)}}
	const tokens = (contextTokens-maxAttribute/tokenBytes)/3 - tagTokens
	row := func(ticket int64, chunk int, similarity float64, tokens int) candidate {
		c := chunkOf(ticket, chunk, similarity, "x")
		c.Tokens, c.Fields = tokens, given
		return c
	}
	got := fit([]candidate{row(1, 1, 0.5, tokens), row(1, 2, 0.6, tokens), row(1, 3, 0.7, tokens)})
	if diff := cmp.Diff([]string{"1-2", "1-3"}, ids(got)); diff != "" || strings.Count(prompt(Question{Text: "Who?"}, got), ` assignee="Ada"`) != 2 {
		t.Errorf("%s: %s", diff, prompt(Question{Text: "Who?"}, got))
	}
}
