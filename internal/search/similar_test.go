package search_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"tasklens/internal/search"
	"tasklens/internal/vector"
)

// runes counts characters as tokens, and records the longest text that it was given.
type runes struct{ longest int }

func (r *runes) Lengths(text string) (lengths []int) {
	r.longest = max(r.longest, len(text))
	for _, character := range text {
		lengths = append(lengths, utf8.RuneLen(character))
	}
	return lengths
}

type model struct{ input string }

func (m *model) Embed(_ context.Context, _ string, inputs []string) ([]vector.Vector, []int, error) {
	m.input = strings.Join(inputs, "|")
	return []vector.Vector{{1}}, nil, nil
}

// Embedded like a query.
func (m *model) Model() string { return "m" }

func (m *model) Vector(context.Context) (vector.Vector, error) { return vector.Vector{1}, nil }

type database func(function string, arguments map[string]any, result any) error

func (d database) Call(_ context.Context, function string, arguments, result any) error {
	return d(function, arguments.(map[string]any), result)
}

// Of a draft of any length only the beginning is measured and embedded, and no character is split.
func TestLongDraftIsCut(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "é", "🥨", "ab é 🥨. ", "\n"} {
		tokens, asked := &runes{}, &model{}
		text := "Name\n\n" + strings.Repeat(unit, 100_000/utf8.RuneCountInString(unit))
		_, err := search.NewComparer(asked, tokens).ToDraft(t.Context(), database(func(_ string, arguments map[string]any, result any) error {
			if seen, is := result.(*[]string); is {
				*seen = arguments["texts"].([]string)
			}
			return nil
		}), "m", search.Draft{Text: text, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if tokens.longest > 32<<10 || len(asked.input) > 4000 || !utf8.ValidString(asked.input) || strings.Contains(asked.input, "\uFFFD") {
			t.Errorf("repeated %q: %d bytes were measured and %d embedded", unit, tokens.longest, len(asked.input))
		}
		if !strings.HasPrefix(asked.input, "Name\n\nName\n\n") {
			t.Errorf("repeated %q: the embedded text begins with %.40q", unit, asked.input)
		}
	}
}
