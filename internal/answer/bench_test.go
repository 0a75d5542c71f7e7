package answer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tasklens/internal/chat"
)

// many is the maximum number of candidates, each as long as a chunk can be, as for a question to
// which nearly everything is similar.
func many() []candidate {
	random := rand.New(rand.NewPCG(1, 1))
	found := make([]candidate, candidates)
	for i := range found {
		words := make([]string, 350)
		for j := range words {
			words[j] = fmt.Sprintf("w%dord", random.IntN(2000))
		}
		found[i] = chunkOf(int64(i), 1, 0.9-float64(i)/100, strings.Join(words, " "))
	}
	return alike(found, 0.6, nil)
}

func BenchmarkChoose(b *testing.B) {
	found, q := many(), question(5, 0.5)
	for b.Loop() {
		choose(found, q)
	}
}

// The time an answer takes besides the model and the database.
func BenchmarkAnswer(b *testing.B) {
	said := chat.Completion{Text: "So [1].", Finish: "stop", TokensIn: 1000, TokensOut: 3}
	db := &rows{rows: many()}
	answerer := New(&model{say: func(string, string) chat.Completion { return said }}, Options{})
	for b.Loop() {
		if _, err := answerer.Answer(b.Context(), db, question(5, 0.5), &model{}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	text := many()[0].Text
	for b.Loop() {
		wordsOf(text)
	}
}
