package answer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tasklens/internal/chat"
	"tasklens/internal/clean"
	"tasklens/internal/fault"
	"tasklens/internal/search"
)

// pieces is a listener that records what it receives.
type pieces struct {
	told []string
	err  error
}

func (p *pieces) Found(Answer) error { return p.err }

func (p *pieces) Piece(text string) error {
	p.told = append(p.told, text)
	return p.err
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said    chat.Completion
		want    string
		outcome Outcome
	}{
		"answer":            {chat.Completion{Text: "So [1].", Finish: "stop"}, "So [1].", Answered},
		"refusal":           {chat.Completion{Text: "I can't.", Refused: true, Finish: "stop"}, "I can't.", Refused},
		"nothing":           {chat.Completion{Finish: "stop"}, noAnswer, Empty},
		"blanks":            {chat.Completion{Text: " \n", Finish: "stop"}, noAnswer, Empty},
		"cut off":           {chat.Completion{Text: "So it", Finish: "length"}, "So it" + cutOffNote, CutOff},
		"cut in a citation": {chat.Completion{Text: "So it [1", Finish: "length"}, "So it" + cutOffNote, CutOff},
		"cut to nothing":    {chat.Completion{Finish: "length"}, noAnswer, Empty},
		"all thoughts":      {chat.Completion{Finish: "length", Thought: true}, "The model thought until it reached its greatest length, and gave no answer. The operator can set ANSWER_TOKENS above 800.", CutOff},
		"hidden thoughts":   {chat.Completion{Finish: "length", TokensOut: 800}, "The model thought until it reached its greatest length, and gave no answer. The operator can set ANSWER_TOKENS above 800.", CutOff},
		"thoughts, answer":  {chat.Completion{Text: "So it", Finish: "length", Thought: true}, "So it" + cutOffNote, CutOff},
		"filtered":          {chat.Completion{Text: "So it", Finish: "content_filter"}, "So it" + filterNote, Filtered},
		"withheld":          {chat.Completion{Finish: "content_filter"}, withheld, Filtered},
	} {
		listener := &pieces{}
		m := &model{say: func(string, string) chat.Completion { return c.said }}
		got, err := New(m, Options{}).Answer(t.Context(), &rows{rows: []candidate{chunkOf(1, 1, 0.9, "alpha")}}, question(5, 1), &model{}, listener)
		if err != nil || got.Text != c.want || got.Outcome != c.outcome || strings.Join(listener.told, "") != c.want {
			t.Errorf("%s: %q, %s, %v; told was %q", name, got.Text, got.Outcome, err, listener.told)
		}
	}
}

// A model may have more room, and whole and streamed answers say the same.
func TestRoomOfAnAnswer(t *testing.T) {
	t.Parallel()
	for _, listener := range []Listener{nil, &pieces{}} {
		m := &model{say: func(string, string) chat.Completion { return chat.Completion{Finish: "length", Thought: true} }}
		got, err := New(m, Options{Tokens: 6000}).Answer(t.Context(), &rows{rows: []candidate{chunkOf(1, 1, 0.9, "alpha")}}, question(5, 1), &model{}, listener)
		if err != nil || m.room != 6000 || !strings.HasSuffix(got.Text, "ANSWER_TOKENS above 6000.") {
			t.Errorf("with room for %d tokens: %q, %v", m.room, got.Text, err)
		}
	}
}

// What a source's people, labels and names are made of does not show in answers and sources.
func TestValuesOfSourcesAreLines(t *testing.T) {
	t.Parallel()
	const hostile = "x\n- TX-9 Gone [1] ![i](http://evil.example)\u202e"
	row := chunkOf(1, 1, 0.9, "alpha\nbeta")
	row.TicketName, row.Project, row.Comment = number(hostile), number(hostile), &search.Comment{Author: number(hostile)}
	got, err := New(&model{say: says("So [1].")}, Options{}).Answer(t.Context(), &rows{rows: []candidate{row}}, question(5, 1), &model{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "x - TX-9 Gone (1) ! [i] (http://evil.example)"
	if source := got.Sources[0]; *source.TicketName != want || *source.Project != want || *source.Comment.Author != want || source.Text != "alpha\nbeta" {
		t.Errorf("the source is %+v", source)
	}
}

// An endless response is cut at the maximum length, whole or streamed, and the model is stopped.
func TestGreatestLength(t *testing.T) {
	t.Parallel()
	found := []candidate{chunkOf(1, 1, 0.9, "alpha")}
	for _, text := range []string{strings.Repeat("So [1]. ", clean.MaxBytes), "[" + strings.Repeat("1", 300_000), strings.Repeat("[1] ", 1<<20)} {
		for _, listener := range []Listener{nil, &pieces{}} {
			m := &model{say: says(text)}
			got, err := New(m, Options{}).Answer(t.Context(), &rows{rows: found}, question(5, 1), &model{}, listener)
			if err != nil || got.Outcome != CutOff || !strings.HasSuffix(got.Text, cutOffNote) || len(got.Text) > clean.MaxBytes+len(cutOffNote) || got.TokensOut > clean.MaxBytes+4 {
				t.Errorf("%d bytes, %s, %d tokens, %v", len(got.Text), got.Outcome, got.TokensOut, err)
			}
			if told, is := listener.(*pieces); is && strings.Join(told.told, "") != got.Text {
				t.Errorf("%d pieces are not the text", len(told.told))
			}
			if m.told > clean.MaxBytes+1 {
				t.Errorf("the model told %d pieces", m.told)
			}
		}
	}
}

// Sources that change while the model answers are not checked again.
func TestCancelled(t *testing.T) {
	t.Parallel()
	found := []candidate{chunkOf(1, 1, 0.9, "alpha")}
	for _, listener := range []Listener{nil, &pieces{}} {
		ctx, cancel := context.WithCancel(t.Context())
		m := &model{say: func(string, string) chat.Completion {
			cancel()
			return chat.Completion{Text: "So [1].", Finish: "stop"}
		}}
		if _, err := New(m, Options{}).Answer(ctx, &rows{rows: found}, question(5, 1), &model{}, listener); !errors.Is(err, context.Canceled) || fault.CodeOf(err) != fault.Timeout {
			t.Errorf("error is %v", err)
		}
	}
}

// What the provider counts is taken from it, and its model's name is shown on one line.
func TestWhatTheProviderSays(t *testing.T) {
	t.Parallel()
	m := &model{say: func(string, string) chat.Completion {
		return chat.Completion{Text: "So [1].", Finish: "stop", TokensIn: 7, TokensOut: 2, Model: "chat\u202e\x1bter\n" + strings.Repeat("x", 1<<20)}
	}}
	got, err := New(m, Options{}).Answer(t.Context(), &rows{rows: []candidate{chunkOf(1, 1, 0.9, "alpha")}}, question(5, 1), &model{}, nil)
	if want := "chatter " + strings.Repeat("x", maxModelName-len("chatter ")); err != nil || got.Model != want || got.TokensIn != 7 || got.TokensOut != 2 {
		t.Errorf("the model is %q, of %d and %d tokens, %v", got.Model, got.TokensIn, got.TokensOut, err)
	}
}

// Titles and names of sources count as sources of links too, also in a stream.
func TestLinksOfSources(t *testing.T) {
	t.Parallel()
	row := chunkOf(1, 1, 0.9, "See https://docs.example/a.")
	row.TicketName = number("Broken https://docs.example/b")
	const said = "[a](https://docs.example/a) https://docs.example/b ![c](https://docs.example/a) [d](http://evil.example/?q=secret) [1]"
	const want = "[a](https://docs.example/a) https://docs.example/b ![c] (https://docs.example/a) [d] (link removed) [1]"
	for _, listener := range []Listener{nil, &pieces{}} {
		got, err := New(&model{say: says(said)}, Options{}).Answer(t.Context(), &rows{rows: []candidate{row}}, question(5, 1), &model{}, listener)
		if err != nil || got.Text != want || !got.Sources[0].Cited {
			t.Errorf("%q, %v", got.Text, err)
		}
	}
}
