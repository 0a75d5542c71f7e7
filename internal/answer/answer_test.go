package answer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/chat"
)

func says(text string) func(string, string) chat.Completion {
	return func(string, string) chat.Completion { return chat.Completion{Text: text, Finish: "stop"} }
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	db := &rows{rows: alike([]candidate{chunkOf(1, 1, 0.9, "alpha"), chunkOf(2, 1, 0.8, "beta")}, 0.1, nil)}
	m := &model{say: says("So it is [2], not [9].")}
	listener := &pieces{}
	got, err := New(m, letters{}, Options{}).Answer(context.Background(), db, question(5, 0.5), &model{}, listener)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "So it is [2], not." || got.Outcome != Answered || got.UnknownCitations != 1 || got.Model != "chatter" || got.LowSimilarity ||
		*got.BestSimilarity != 0.9 || got.Sources[0].Cited || !got.Sources[1].Cited || strings.Join(listener.told, "") != got.Text {
		t.Errorf("answer is %+v, told was %q", got, listener.told)
	}
	if want := len(instructions) + len(m.messages[0]); got.TokensIn != want || got.TokensOut != len("So it is [2], not [9].") {
		t.Errorf("tokens are %d and %d, want %d", got.TokensIn, got.TokensOut, want)
	}
	if got.Embedding <= 0 || got.Retrieval <= 0 || got.Chat <= 0 {
		t.Errorf("steps took %v, %v, %v", got.Embedding, got.Retrieval, got.Chat)
	}
	if db.function != "retrieve_chunks" || db.given["source_chunk_limit"] != 3 {
		t.Errorf("asked was %s %v", db.function, db.given)
	}
}

func TestAnswerCountedByTheProvider(t *testing.T) {
	t.Parallel()
	m := &model{say: func(string, string) chat.Completion {
		return chat.Completion{Text: "a", Finish: "stop", Model: "chatter-2", TokensIn: 7, TokensOut: 2}
	}}
	got, err := New(m, letters{}, Options{}).Answer(context.Background(), &rows{rows: []candidate{chunkOf(1, 1, 0.9, "alpha")}}, question(5, 1), &model{}, nil)
	if err != nil || got.TokensIn != 7 || got.TokensOut != 2 || got.Model != "chatter-2" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Where nothing is relevant, the chat model is not called, and a listener receives the same text.
func TestAbstained(t *testing.T) {
	t.Parallel()
	low := chunkOf(1, 1, 0.4, "alpha")
	low.OverThreshold = false
	for name, found := range map[string][]candidate{"nothing": nil, "nothing near": {low}} {
		m, listener := &model{}, &pieces{}
		got, err := New(m, letters{}, Options{}).Answer(context.Background(), &rows{rows: found}, question(5, 0.5), &model{}, listener)
		if err != nil || got.Text != nothingRelevant || got.Outcome != Abstained || !got.LowSimilarity || got.Sources == nil || len(got.Sources) > 0 ||
			(got.BestSimilarity == nil) != (len(found) == 0) || len(m.messages) > 0 || strings.Join(listener.told, "") != got.Text {
			t.Errorf("%s: %+v, %v; told was %q", name, got, err, listener.told)
		}
	}
}

func TestHybridRunsKeywordSearchToo(t *testing.T) {
	t.Parallel()
	row := chunkOf(1, 1, 0.4, "alpha")
	row.OverThreshold, row.Relevance = false, number(1.0)
	db := &rows{rows: []candidate{row}}
	q := question(5, 0.5)
	q.Retrieval = Hybrid
	got, err := New(&model{say: says("So [1].")}, letters{}, Options{VectorWeight: 1, KeywordWeight: 2}).Answer(t.Context(), db, q, &model{}, nil)
	if err != nil || len(got.Sources) != 1 || !got.LowSimilarity || !got.Sources[0].Cited {
		t.Errorf("%+v, %v", got, err)
	}
	if db.function != "retrieve_chunks_hybrid" || db.given["query_text"] != q.Text || db.given["keyword_weight"] != 2.0 {
		t.Errorf("asked was %s %v", db.function, db.given)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	found := []candidate{chunkOf(1, 1, 0.9, "alpha")}
	if _, err := New(&model{}, letters{}, Options{}).Answer(context.Background(), &rows{}, question(5, 1), &model{embedErr: gone}, nil); !errors.Is(err, gone) {
		t.Errorf("embedding: %v", err)
	}
	if _, err := New(&model{}, letters{}, Options{}).Answer(context.Background(), &rows{rows: found}, question(5, 1), &model{}, &pieces{err: gone}); !errors.Is(err, gone) {
		t.Errorf("sources: %v", err)
	}
}

// The prompt stays within the budget: the least relevant source is dropped first, and a single one
// is cut at a character.
func TestBudget(t *testing.T) {
	t.Parallel()
	found := alike([]candidate{chunkOf(1, 1, 0.9, strings.Repeat("alpha ", 20)), chunkOf(2, 1, 0.7, strings.Repeat("beta ", 20)),
		chunkOf(3, 1, 0.8, strings.Repeat("gamma ", 20))}, 0.1, nil)
	mark := fence("Why?", found)
	one := len(contextOf(prompt(mark, "Why?", found[:1])))
	for tokens, want := range map[int][]string{10000: {"1-1", "2-1", "3-1"}, 3 * one: {"1-1", "2-1", "3-1"}, 2*one + 10: {"1-1", "3-1"}, one + 10: {"1-1"}} {
		a := New(&model{}, letters{}, Options{ContextTokens: tokens})
		kept := a.fit(mark, append([]candidate{}, found...))
		total := len(contextOf(prompt(mark, "Why?", kept)))
		if diff := cmp.Diff(want, ids(kept)); diff != "" || total > tokens {
			t.Errorf("%d tokens: %d, %s", tokens, total, diff)
		}
	}
	// For any budget, the prompt fits and uses the room that there is.
	for tokens := one; tokens <= 3*one+10; tokens += 5 {
		m := &model{say: func(string, string) chat.Completion { return chat.Completion{Text: "So [1].", Finish: "stop"} }}
		got, err := New(m, letters{}, Options{ContextTokens: tokens}).Answer(t.Context(), &rows{rows: found}, question(3, 1), &model{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if total := len(contextOf(m.messages[0])); total > tokens || len(got.Sources) < min(3, tokens/one) {
			t.Errorf("%d tokens: the model was sent %d of %d sources", tokens, total, len(got.Sources))
		}
	}
	found[2].Similarity = found[1].Similarity
	if diff := cmp.Diff([]string{"1-1", "2-1"}, ids(New(&model{}, letters{}, Options{ContextTokens: 2*one + 10}).fit(mark, slices.Clone(found)))); diff != "" {
		t.Errorf("of equals the later one goes: %s", diff)
	}
	umlauts := chunkOf(1, 1, 0.9, strings.Repeat("ü", 100))
	for tokens := range 20 {
		kept := New(&model{}, letters{}, Options{ContextTokens: one - 120 + 100 + tokens}).fit(mark, []candidate{umlauts})
		if len(kept) != 1 || strings.Trim(kept[0].Text, "ü") != "" || len(contextOf(prompt(mark, "Why?", kept))) > one-20+tokens {
			t.Errorf("cut to %q", kept[0].Text)
		}
	}
	// Invisible characters and the blanks that break role marks do not make a source exceed the
	// budget.
	for _, text := range []string{"The pump leaks." + strings.Repeat("\u200b", 5000), strings.Repeat("\u200b", 5000) + strings.Repeat("pump ", 100),
		strings.Repeat("a\u200b", 1000), strings.Repeat("<|x|>", 200), strings.Repeat("<tool_call>[1]", 100) + strings.Repeat("\U000E0041", 300)} {
		long := chunkOf(1, 1, 0.9, text)
		for tokens := one - 100; tokens < one+100; tokens += 7 {
			kept := New(&model{}, letters{}, Options{ContextTokens: tokens}).fit(mark, []candidate{long})
			if size := len(contextOf(prompt(mark, "Why?", kept))); size > tokens || size < tokens-20 && kept[0].Text != text && strings.HasPrefix(text, "a") {
				t.Errorf("of %.30q %.60q is left, %d of %d tokens", text, kept[0].Text, size, tokens)
			}
		}
	}
	if kept := New(&model{}, letters{}, Options{ContextTokens: 1}).fit(mark, []candidate{umlauts}); kept[0].Text != "" {
		t.Errorf("cut to %q", kept[0].Text)
	}
}

// contextOf is the part of a prompt that holds the sources.
func contextOf(message string) string {
	return message[strings.Index(message, "<source-"):strings.LastIndex(message, "\n<question-")]
}
