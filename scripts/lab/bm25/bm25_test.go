package bm25_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tasklens/scripts/lab/bm25"
)

var usual = bm25.Parameters{K1: 1.2, B: 0.75, Weights: []float64{3, 1}}

// document has a title and a description.
func document(title, description string) [][]string {
	return [][]string{strings.Fields(title), strings.Fields(description)}
}

// Worked out by hand. Titles have 1 and 3 words (mean 2), descriptions 2 and 4 (mean 3).
//
//	pump in document 0: title 3 / (0.25 + 0.75·1/2) = 4.8, description 1 / (0.25 + 0.75·2/3) = 1.333…: tf 6.1333…
//	pump in document 1: description 2 / (0.25 + 0.75·4/3) = 1.6
//	idf of pump, in 2 of 2: ln(1 + 0.5/2.5) = 0.182321556794; of seal, in 1 of 2: ln(1 + 1.5/1.5) = 0.693147180560
//	seal in document 1: title 3 / (0.25 + 0.75·3/2) = 2.181818…
func TestAnExampleWorkedOutByHand(t *testing.T) {
	t.Parallel()
	x := bm25.New(usual, [][][]string{document("pump", "pump leaks"), document("seal of valve", "pump and pump room")})
	pump := 0.182321556794
	got := x.Search(strings.Fields("seal pump pump"), 10)
	want := []bm25.Hit{
		{1, pump*1.6/2.8 + 0.693147180560*(2.181818181818/3.381818181818)},
		{0, pump * (6.133333333333 / 7.333333333333)},
	}
	if len(got) != 2 {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i].Document != want[i].Document || math.Abs(got[i].Score-want[i].Score) > 1e-9 {
			t.Errorf("place %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestOnlyWhatHoldsAWordIsFoundAndEqualsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	x := bm25.New(usual, [][][]string{document("a", ""), document("b", ""), document("a", ""), document("", "")})
	got := x.Search([]string{"a", "unknown"}, 10)
	if len(got) != 2 || got[0].Document != 0 || got[1].Document != 2 || got[0].Score != got[1].Score {
		t.Errorf("got %v", got)
	}
	if got := x.Search([]string{"a"}, 1); len(got) != 1 || got[0].Document != 0 {
		t.Errorf("at most one: %v", got)
	}
	if got := x.Search(nil, 10); len(got) != 0 {
		t.Errorf("no words: %v", got)
	}
	if got := bm25.New(usual, nil).Search([]string{"a"}, 10); len(got) != 0 {
		t.Errorf("no documents: %v", got)
	}
}

// For any collection, scores are positive and descending.
func TestScoresOfEveryCollection(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom(strings.Fields("a b c d e"))
	rapid.Check(t, func(t *rapid.T) {
		documents := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [][]string {
			return [][]string{rapid.SliceOfN(word, 1, 4).Draw(t, "title"), rapid.SliceOfN(word, 0, 8).Draw(t, "description")}
		}), 1, 8).Draw(t, "documents")
		query := rapid.SliceOfN(word, 1, 3).Draw(t, "query")
		hits := bm25.New(usual, documents).Search(query, len(documents))
		for i, hit := range hits {
			if !(hit.Score > 0) || i > 0 && hit.Score > hits[i-1].Score {
				t.Fatalf("%v", hits)
			}
		}
	})
}
