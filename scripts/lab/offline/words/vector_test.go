package words

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
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

func similarity(a, b string) float64 { return cosine(Vector(a), Vector(b)) }

// near is above the cosines of nearly all texts that share no word.
const near = 0.29

func TestVectorIsUnit(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		vector, norm := Vector(text), 0.0
		for _, x := range vector {
			norm += float64(x) * float64(x)
		}
		if len(vector) != Dimensions || math.IsNaN(norm) || math.Abs(norm-1) > 1e-5 || vector[0] <= 0 {
			t.Errorf("Vector(%.40q) has %d numbers, square %v, and starts with %v", text, len(vector), norm, vector[0])
		}
	}
	for _, text := range []string{
		"", " ", "…!?", "🙂🚀", "\xff\xfe", "\x00", "''''", "a'", strings.Repeat("a", 50_000), strings.Repeat("aB", 5_000),
		strings.Repeat("x-", 9_000), strings.Repeat("界", 3_000), strings.Repeat("login ", 9_000), "ﬁne ㌔ İstanbul",
	} {
		check(t, text)
	}
	t.Run("any text", rapid.MakeCheck(func(t *rapid.T) { check(t, rapid.String().Draw(t, "text")) }))
}

// TestVectorIsTheSameEverywhere pins a vector's bits. Machine, process and map order must not
// change them.
func TestVectorIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	h := fnv.New64a()
	for range 3 {
		for _, x := range Vector("Zyxomat quorvel-77 über getFrobnitz 検索結果\n\nblorptangle snarfwick") {
			fmt.Fprintf(h, "%08x", math.Float32bits(x))
		}
	}
	if got, want := h.Sum64(), uint64(0x37e265578979aaf7); got != want {
		t.Errorf("the vector's bits hash to %#x, want %#x", got, want)
	}
}

// A vector's beginnings keep its cosines, and what all texts have in common.
func TestBeginningsAreCoarserVectors(t *testing.T) {
	t.Parallel()
	texts := readChunks(t)
	for _, d := range []int{256, 384, 768} {
		for i, one := range texts {
			for _, other := range texts[:i] {
				short, whole := cosine(Vector(one)[:d], Vector(other)[:d]), similarity(one, other)
				if math.Abs(short-whole) > 0.2 {
					t.Errorf("%.40q and %.40q have cosine %.3f in %d numbers, and %.3f in all", one, other, short, d, whole)
				}
			}
		}
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
		if got := similarity("🔥", text); math.Abs(got-commonShare) > 0.13 {
			t.Fatalf("%q has cosine %v with a text that says nothing", text, got)
		}
	})
}

func TestSimilarity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		one, other string
		above      bool
	}{
		{"logins failed", "a login fails", true},
		{"resolve login issue", "Fix authentication bug", false}, // no synonyms
		{"resolve login issue", "Implement new database schema", false},
		{"sign-in", "signin", true},
		{"ABC-123", "See abc-123 for the plan", true},
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

func TestWholeCodesCount(t *testing.T) {
	t.Parallel()
	right, other := similarity("ABC-123", "See abc-123 for the plan"), similarity("ABC-123", "See abc-124 for the plan")
	if right < other+0.2 {
		t.Errorf("a code has similarity %.3f with itself and %.3f with the next one", right, other)
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
		Vector(chunks[i%len(chunks)])
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
}

func TestStem(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"migrations": "migrat", "failing": "fail", "ux": "ux", "über": "über", "utf8": "utf8",
		strings.Repeat("ing", 20): strings.Repeat("ing", 20),
	} {
		if got := Stem(word); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
	for stem, want := range map[string]float64{"the": 0, "updat": 0.4, "page": 0.7, "zebra": 1} { // "update" is in two lists
		if got := Weight(stem); got != want {
			t.Errorf("Weight(%q) = %v, want %v", stem, got, want)
		}
	}
}
