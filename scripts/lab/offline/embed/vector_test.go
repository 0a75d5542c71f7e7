package embed

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func cosine(a, b []float32) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	return dot / math.Sqrt(aa*bb)
}

func similarity(a, b string) float64 {
	return cosine(Of3Small.Vector(a, Dimensions), Of3Small.Vector(b, Dimensions))
}

// near is the equivalent of 0.70 on the scale High: 1 in 100 random pairs of a short query and a
// chunk exceeds it.
const near = float64(Of3Small) + float64(1-Of3Small)*(0.70-float64(High))/float64(1-High)

func TestVectorIsUnit(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Errorf(string, ...any) }, text string, d int) {
		vector, norm := Of3Small.Vector(text, d), 0.0
		for _, x := range vector {
			norm += float64(x) * float64(x)
		}
		if len(vector) != d || math.IsNaN(norm) || math.Abs(norm-1) > 1e-5 {
			t.Errorf("Vector(%.40q, %d) has %d numbers, square %v", text, d, len(vector), norm)
		}
	}
	for _, text := range []string{
		"", " ", "…!?", "🙂🚀", "\xff\xfe", "\x00", "''''", "a'", strings.Repeat("a", 50_000), strings.Repeat("aB", 5_000),
		strings.Repeat("x-", 9_000), strings.Repeat("界", 3_000), strings.Repeat("login ", 9_000), "ﬁne ㌔ İstanbul",
	} {
		check(t, text, Dimensions)
		check(t, text, 1)
	}
	t.Run("any text", rapid.MakeCheck(func(t *rapid.T) {
		check(t, rapid.String().Draw(t, "text"), rapid.IntRange(1, Dimensions).Draw(t, "dimensions"))
	}))
}

// TestVectorIsTheSameEverywhere pins a vector's bits. Its words are not in the lexicon, so that
// extending the lexicon does not change them. Machine, process and map order must not, either.
func TestVectorIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	for scale, want := range map[Scale]uint64{Of3Small: 0xc48d9a96ab7b6604, High: 0xe655cb229152dec7} {
		h := fnv.New64a()
		for range 3 {
			for _, x := range scale.Vector("Zyxomat quorvel-77 über getFrobnitz 検索結果\n\nblorptangle snarfwick", Dimensions) {
				fmt.Fprintf(h, "%08x", math.Float32bits(x))
			}
		}
		if got := h.Sum64(); got != want {
			t.Errorf("scale %v: the vector's bits hash to %#x, want %#x", scale, got, want)
		}
	}
}

func TestShorterVectorsAreBeginnings(t *testing.T) {
	t.Parallel()
	const text = "Renewed certificate is not picked up until the proxy restarts"
	whole := Of3Small.Vector(text, Dimensions)
	for _, d := range []int{1, 3, 256, 768, 1535} {
		if got := cosine(whole[:d], Of3Small.Vector(text, d)); math.Abs(got-1) > 1e-6 {
			t.Errorf("Vector(…, %d) has cosine %v with the first numbers of the whole, want 1", d, got)
		}
	}
	if len(Of3Small.Vector(text, 0)) != 1 || len(Of3Small.Vector(text, 9999)) != Dimensions {
		t.Error("Vector must clamp dimensions")
	}
}

func TestTextsThatSayNothingLieApart(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"🔥", "…", "the of and", "\u200b", "?!"} {
		if got := similarity("", text); math.Abs(got-1) > 1e-6 {
			t.Errorf("similarity(\"\", %q) = %v, want 1", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{4,9}`), 1, 30).Draw(t, "words")
		text := "printer on fire\n\n" + strings.Join(words, " ")
		for _, d := range []int{Dimensions, Dimensions / 2} {
			if got := cosine(Of3Small.Vector("🔥", d), Of3Small.Vector(text, d)); math.Abs(got) > 0.2 {
				t.Fatalf("the first %d numbers of %q have cosine %v with those of a text that says nothing", d, text, got)
			}
		}
	})
}

// Cosines convert between scales, so that both rank texts in the same order.
func TestScales(t *testing.T) {
	t.Parallel()
	texts := []string{"resolve login issue", "Fix authentication bug", "Hall — printer on fire\n\nprinter on fire"}
	for _, one := range texts {
		for _, other := range texts {
			small := cosine(Of3Small.Vector(one, Dimensions), Of3Small.Vector(other, Dimensions))
			high := cosine(High.Vector(one, Dimensions), High.Vector(other, Dimensions))
			want := float64(High) + float64(1-High)*(small-float64(Of3Small))/float64(1-Of3Small)
			if math.Abs(high-want) > 1e-6 {
				t.Errorf("%q and %q: %v on the scale High, want %v", one, other, high, want)
			}
		}
	}
}

func TestSimilarity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		one, other string
		above      bool
	}{
		{"resolve login issue", "Fix authentication bug", true},
		{"resolve login issue", "Implement new database schema", false},
		{"sign-in", "signin", true},
		{"ABC-123", "See abc-123 for the plan", true},
		{"ABC-123", "See abc-124 for the plan", false},
		{"getUserName", "get_user_name", true},
		{"検索が遅い", "検索結果の表示が遅い", true},
		{"検索が遅い", "請求書を印刷する", false},
		{"доступ запрещён", "Доступ запрещён для гостей", true},
		{"ﬁle", "file", true}, // a ligature
	} {
		if got := similarity(c.one, c.other); got > near != c.above {
			t.Errorf("similarity(%q, %q) = %.3f, want above %v: %v", c.one, c.other, got, near, c.above)
		}
	}
}

// TestSpecifiedParaphrases: a paraphrase without a common word is nearer than any other text, and
// than one with a common word.
func TestSpecifiedParaphrases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, paraphrase, other string }{
		{"resolve login issue", "fix authentication bug", "resolve visual glitch in UI"},
		{"fix authentication bug", "resolve login issue", "fix user interface bug"},
		{"fix user interface bug", "resolve visual glitch in UI", "fix authentication bug"},
		{"resolve visual glitch in UI", "fix user interface bug", "resolve login issue"},
		{"fix user interface bug", "resolve visual glitch in UI", "implement new database schema"},
	} {
		want := similarity(c.query, c.paraphrase)
		for _, text := range append(readChunks(t), c.other) {
			if got := similarity(c.query, text); got >= want {
				t.Errorf("%q has similarity %.3f with %.60q, and %.3f with %q", c.query, got, text, want, c.paraphrase)
			}
		}
	}
}

func TestMisspeltWordsComeNear(t *testing.T) {
	t.Parallel()
	right, other := similarity("thermometre", "thermometer"), similarity("thermometre", "watermelon")
	if right < other+0.1 {
		t.Errorf("a misspelt word has similarity %.3f with its right form and %.3f with another word", right, other)
	}
}

// TestShortQueryFindsLongChunk has the subject of a long chunk only in its header.
func TestShortQueryFindsLongChunk(t *testing.T) {
	t.Parallel()
	filler := strings.Join(readChunks(t), " ")
	words := strings.Fields(filler)[:350]
	chunk := "Observatory · Telescope dome does not open\n\n" + strings.Join(words, " ")
	if got := similarity("dome of the telescope", chunk); got <= near {
		t.Errorf("similarity = %.3f, want above %.3f", got, near)
	}
}

func readChunks(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/chunks.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n----\n")
}

func BenchmarkVector(b *testing.B) {
	words := strings.Fields(strings.Join(readChunks(b), " "))
	var chunks []string
	for i := 0; i+200 <= len(words); i += 50 {
		chunks = append(chunks, strings.Join(words[i:i+200], " "))
	}
	for i := 0; b.Loop(); i++ {
		Of3Small.Vector(chunks[i%len(chunks)], Dimensions)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
}

// TestEveryConceptHasAnAxis: a concept without one would be hashed like a word.
func TestEveryConceptHasAnAxis(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../lexicon/concepts.txt")
	if err != nil {
		t.Fatal(err)
	}
	heads := regexp.MustCompile(`(?m)^[^#\s\[][^:\n]*:`).FindAll(text, -1)
	if len(heads) < 200 || len(heads) >= conceptNumbers {
		t.Errorf("the lexicon has %d concepts, want 200 to %d", len(heads), conceptNumbers-1)
	}
	var s sum
	s.add(Feature{Hash: 1, Weight: 1, concept: conceptNumbers})
	if s.words[0] == 0 {
		t.Error("a concept too many is no feature at all")
	}
}
