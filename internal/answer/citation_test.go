package answer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tasklens/internal/openai"
)

// pieces is a listener that keeps what it is told.
type pieces struct {
	told []string
	err  error
}

func (p *pieces) Found(Answer) error { return p.err }

func (p *pieces) Piece(text string) error {
	p.told = append(p.told, text)
	return p.err
}

// written is what becomes of a text that comes in pieces.
func written(t interface{ Fatal(...any) }, sources int, text ...string) (whole, cited string, unknown int, told []string) {
	listener := &pieces{}
	w := &writer{sources: make([]Source, sources), listener: listener}
	for _, piece := range text {
		if err := w.write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range w.sources {
		cited += map[bool]string{true: "1", false: "0"}[s.Cited]
	}
	return w.text.String(), cited, w.unknown, listener.told
}

func TestCitations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		cited      string // 1 for each source that is
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
		{"From [2–9].", "From [2][3].", "011", 1},
		{"Backwards [3-1].", "Backwards.", "000", 1},
		{"Unknown [4].", "Unknown.", "000", 1},
		{"Unknown [0], [10] and [3].", "Unknown, and [3].", "001", 2},
		{"Partly [2, 9].", "Partly [2].", "010", 1},
		{"Large [99999999999999999999].", "Large.", "000", 1},
		{"Large [1-99999999999999999999].", "Large.", "000", 1},
		{"No citations: [a], [1a], [], [ ], [1.5], (1), [-1].", "No citations: [a], [1a], [], [ ], [1.5], (1), [-1].", "000", 0},
		{"Leading zero [01].", "Leading zero [1].", "100", 0},
		{"  \n[7] ", "", "000", 1},
		{"Cut off [1", "Cut off", "000", 0},
		{"Cut off [", "Cut off [", "000", 0},
		{"Line\n[2] break\n", "Line\n[2] break", "010", 0},
		{"Nested [[2]] and [x[1]].", "Nested [[2]] and [x[1]].", "110", 0},
		{"Nested unknown [[9]1] and [[ [7] 2].", "Nested unknown […1] and [[ … 2].", "000", 2},
		{"Open [ 1 and [3].", "Open [ 1 and [3].", "001", 0},
		{"A link [1](https://example.com) is none.", "A link [1] (https://example.com) is none.", "100", 0},
		{"A link [9](https://example.com) is none.", "A link(https://example.com) is none.", "000", 1},
		{"Ümläute [1] 🥨[2]", "Ümläute [1] 🥨[2]", "110", 0},
	} {
		if got, cited, unknown, _ := written(t, 3, c.text); got != c.want || cited != c.cited || unknown != c.unknown {
			t.Errorf("%q became %q, cited %s, %d unknown; want %q, %s, %d", c.text, got, cited, unknown, c.want, c.cited, c.unknown)
		}
	}
}

// However a text is cut into pieces, the same comes out of it; and what was told is all of it.
func TestCitationsInPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a. [](1239,-\n`ü"))).Draw(t, "text")
		var cut []string
		for rest := []rune(text); len(rest) > 0; {
			size := rapid.IntRange(1, len(rest)).Draw(t, "size")
			cut, rest = append(cut, string(rest[:size])), rest[size:]
		}
		checkPieces(t, text, cut)
	})
}

func FuzzCitations(f *testing.F) {
	for _, text := range []string{"", "One [1].", "[1,2;3-9] [[9]1] [1](x) [", "Ü [2–3]\n🥨[0]…", "`[1]` [a] [1 \t\n2] [99999999999999999999]"} {
		f.Add(text, uint8(1))
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		var cut []string
		for piece := range slices.Chunk([]rune(text), max(1, int(size))) {
			cut = append(cut, string(piece))
		}
		checkPieces(t, text, cut)
	})
}

// checkPieces checks that a text that comes cut becomes what it becomes whole, that what is told is all of it, and that
// nothing unknown is left in it.
func checkPieces(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, text string, cut []string) {
	want, cited, unknown, _ := written(t, 3, text)
	got, citedInPieces, unknownInPieces, told := written(t, 3, cut...)
	if got != want || cited != citedInPieces || unknown != unknownInPieces {
		t.Fatalf("in pieces %q: %q, cited %s, %d unknown; whole: %q, %s, %d", cut, got, citedInPieces, unknownInPieces, want, cited, unknown)
	}
	if joined := strings.Join(told, ""); joined != got {
		t.Fatalf("told was %q, not %q", joined, got)
	}
	if again, citedAgain, unknown, _ := written(t, 3, got); unknown != 0 || citedAgain != cited {
		t.Fatalf("%q still cites otherwise, %d unknown and %s instead of %s: %q", got, unknown, citedAgain, cited, again)
	}
}

// Text goes on with the piece that brings it; only a bracket waits, and blanks.
func TestNothingElseWaits(t *testing.T) {
	t.Parallel()
	_, _, _, told := written(t, 1, "The", " key ", "was", " lost", " [", "1", "]", ".", " [x", "]")
	if got := strings.Join(told, "|"); got != "The| key| was| lost| [1]|.| [x|]" {
		t.Errorf("told was %q", got)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said    openai.Completion
		want    string
		outcome Outcome
	}{
		"answer":            {openai.Completion{Text: "So [1].", Finish: "stop"}, "So [1].", Answered},
		"refusal":           {openai.Completion{Text: "I can't.", Refused: true, Finish: "stop"}, "I can't.", Refused},
		"nothing":           {openai.Completion{Finish: "stop"}, noAnswer, Empty},
		"blanks":            {openai.Completion{Text: " \n", Finish: "stop"}, noAnswer, Empty},
		"citations alone":   {openai.Completion{Text: "[7] [8]", Finish: "stop"}, noAnswer, Empty},
		"cut off":           {openai.Completion{Text: "So it", Finish: "length"}, "So it" + cutOffNote, CutOff},
		"cut in a citation": {openai.Completion{Text: "So it [1", Finish: "length"}, "So it" + cutOffNote, CutOff},
		"cut to nothing":    {openai.Completion{Finish: "length"}, noAnswer, Empty},
		"filtered":          {openai.Completion{Text: "So it", Finish: "content_filter"}, "So it" + filterNote, Filtered},
		"withheld":          {openai.Completion{Finish: "content_filter"}, withheld, Filtered},
	} {
		listener := &pieces{}
		w := &writer{sources: make([]Source, 1), listener: listener}
		if err := w.write(c.said.Text); err != nil {
			t.Fatal(err)
		}
		got, err := w.finish(Answer{}, c.said)
		if err != nil || got.Text != c.want || got.Outcome != c.outcome || strings.Join(listener.told, "") != c.want {
			t.Errorf("%s: %q, %s, %v; told was %q", name, got.Text, got.Outcome, err, listener.told)
		}
	}
}

func TestListenerThatLeft(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	w := &writer{listener: &pieces{err: gone}}
	if err := w.write("a"); !errors.Is(err, gone) {
		t.Errorf("error is %v", err)
	}
	if _, err := (&writer{listener: &pieces{err: gone}}).finish(Answer{}, openai.Completion{}); !errors.Is(err, gone) {
		t.Errorf("at the end, error is %v", err)
	}
}
