package encoder

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

//go:embed testdata/cosines.tsv
var recorded string

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestSameAsItsAuthors compares with cosines of the authors' runtime, which testdata/record.mjs
// recorded: of each sentence with the next, of the last with the first.
func TestSameAsItsAuthors(t *testing.T) {
	t.Parallel()
	var want []float64
	var sentences []string
	var encodings [][]float32
	for line := range strings.Lines(recorded) {
		number, sentence, _ := strings.Cut(strings.TrimSpace(line), "\t")
		cosine, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		want, sentences, encodings = append(want, cosine), append(sentences, sentence), append(encodings, Encode(sentence))
	}
	if len(want) != 50 {
		t.Fatalf("%d sentences, want 50", len(want))
	}
	worst := 0.0
	for i, one := range encodings {
		other := (i + 1) % len(encodings)
		got := dot(one, encodings[other])
		worst = max(worst, math.Abs(got-want[i]))
		if math.Abs(got-want[i]) > 0.005 {
			t.Errorf("%q and %q: cosine %.4f, want %.4f", sentences[i], sentences[other], got, want[i])
		}
	}
	t.Logf("greatest difference %.4f", worst)
}

func TestEncodeReadsAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if v := Encode(text); v != nil && (len(v) != Dimensions || math.Abs(dot(v, v)-1) > 1e-4) {
			t.Errorf("%q: %d numbers with the square %v", text, len(v), dot(v, v))
		}
	})
	for _, text := range []string{"", " \n", "検索結果", "🔥", "\xff\xfe"} {
		if v := Encode(text); v != nil {
			t.Errorf("%q has an encoding, but no piece of it is known", text)
		}
	}
	if dot(Encode("login  fails"), Encode("\tlogin\nfails ")) < 0.9999 {
		t.Error("blanks change the encoding")
	}
}

// The time of a long text is bounded: what follows the first Longest pieces is not read.
func TestEncodeReadsTheBeginning(t *testing.T) {
	t.Parallel()
	beginning := strings.Repeat("the login fails ", Longest)
	if dot(Encode(beginning), Encode(beginning+strings.Repeat("the cat sleeps ", 10_000))) < 0.9999 {
		t.Error("the end of a long text changes its encoding")
	}
	if dot(Encode("the login fails"), Encode("the login fails the cat sleeps")) > 0.99 {
		t.Error("the end of a short text does not change its encoding")
	}
}

func BenchmarkEncode(b *testing.B) {
	for b.Loop() {
		Encode(strings.Repeat("the login fails after an update ", 10))
	}
}
