// Package reply checks the output of a chat model as a stream, word by word: citations name
// existing sources, addresses occur in a source, there are no images or invisible characters, and
// the length is bounded. It knows neither models nor where sources come from.
package reply

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/clean"
)

const (
	// MaxBytes is the maximum length of a text. A model that respects its token limit stays far below
	// it.
	MaxBytes = 32 << 10
	// maxWord is the number of bytes of a word that are held back. A longer one is checked in parts.
	maxWord = 2 << 10
	// maxTail is how much of a word is remembered for what follows without a space.
	maxTail = 16
)

// ErrFull is returned when a text reaches MaxBytes. The text up to there is checked and kept.
var ErrFull = errors.New("the text reached its greatest length")

// Checker takes a text in pieces and writes what it has checked. A word is held back until white
// space, or a sign such as 。, closes it. The result does not depend on how the text is split.
type Checker struct {
	tell   func(text string) error
	told   int    // bytes
	broken []byte // an incomplete UTF-8 character
	read   int    // bytes
	filter clean.Filter
	known  *known
	full   bool // the last word did not fit into MaxBytes

	text   strings.Builder
	blanks []byte // before the word; dropped at both ends of the text and before a removed citation
	word   []byte

	code     code
	tail     string // the end of the text, if no space separates it from the word
	joined   bool   // nor does a line break or tab
	partly   bool   // the word goes on
	dropping bool   // the word is the rest of an address that was too long
	sealed   bool   // the last part that was checked ends with an address
	citing   bool   // the word continues a bracket with digits only
	first    bool   // the line so far has only what may start a paragraph, such as > or 1.
	image    bool   // the paragraph has an image's beginning
	cited    []bool
	unknown  int
}

// New returns a checker for a text that may cite these sources, numbered from 1, and may link to
// addresses in them. tell gets the checked text piece by piece; concatenated, the pieces equal
// Text. An error of tell ends the work. tell may be nil.
func New(sources []string, tell func(text string) error) *Checker {
	return &Checker{tell: tell, known: &known{texts: sources}, cited: make([]bool, len(sources)), first: true}
}

// Write takes the next piece, of any size.
func (c *Checker) Write(piece string) error {
	if len(c.broken) > 0 {
		piece = string(c.broken) + piece
		c.broken = nil
	}
	for i := 0; i < len(piece); {
		if !utf8.FullRuneInString(piece[i:]) {
			c.broken = []byte(piece[i:])
			break
		}
		r, size := utf8.DecodeRuneInString(piece[i:])
		i += size
		if c.read += size; c.read > MaxBytes || c.full {
			break
		}
		c.take(r)
	}
	if err := c.pass(); err != nil {
		return err
	}
	if c.read > MaxBytes || c.full {
		return ErrFull
	}
	return nil
}

func (c *Checker) take(r rune) {
	if r = c.filter.Map(r); r < 0 {
		return
	}
	switch {
	case unicode.IsSpace(r) && !cites(c.word):
		c.end()
		c.dropping, c.citing = false, false
		c.blanks = utf8.AppendRune(c.blanks, r)
		return
	case len(c.word)+utf8.RuneLen(r) > maxWord:
		c.part()
	}
	c.word = utf8.AppendRune(c.word, r)
	if closes(r) {
		c.part()
		c.dropping = false
	}
}

// closes reports whether a character ends a word: signs of scripts that have no spaces. No address
// contains them.
func closes(r rune) bool {
	return r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '–'
}

// Close ends the text. An unfinished citation is dropped.
func (c *Checker) Close() error {
	if len(c.broken) > 0 && c.read <= MaxBytes {
		c.take(utf8.RuneError)
	}
	c.broken = nil
	c.word = cutOff.ReplaceAll(c.word, nil)
	c.end()
	return c.pass()
}

// Append adds text of the service's own after Close.
func (c *Checker) Append(text string) error {
	c.text.WriteString(text)
	return c.pass()
}

// part checks a part of a word, which goes on: it is too long to be held back, or a sign closed it.
func (c *Checker) part() {
	word := string(c.word)
	c.partly = true
	c.end()
	c.partly = false
	c.citing = c.citing && onlyCites.MatchString(word) || cites([]byte(word))
}

// end checks the word and writes it after the blanks before it.
func (c *Checker) end() {
	word := string(c.word)
	c.word = c.word[:0]
	if c.dropping || word == "" {
		return
	}
	blanks := string(c.blanks)
	if lines := strings.Count(blanks, "\n"); lines > 0 {
		c.first = true
		c.image = c.image && lines < 2
	}
	if strings.Contains(blanks, " ") {
		c.tail = ""
	}
	c.joined = blanks == ""
	c.code.write(blanks)
	checked, removed := c.check(word)
	c.tail = last(c.tail+plain(word), maxTail)
	c.first = c.first && strings.Trim(word, ">-*+#.)|~:0123456789") == ""
	if removed && strings.Trim(checked, ".,;:!?") == "" {
		blanks = ""
	}
	c.blanks = c.blanks[:0]
	if checked == "" && removed {
		c.blanks = append(c.blanks, blanks...)
		return
	}
	if c.text.Len() > 0 {
		c.write(blanks)
	}
	c.write(checked)
}

// write appends as much of the text as fits into MaxBytes.
func (c *Checker) write(text string) {
	if c.full = c.full || c.text.Len()+len(text) > MaxBytes; !c.full {
		c.text.WriteString(text)
	}
}

// pass sends what was checked since the last call to tell.
func (c *Checker) pass() error {
	text := c.text.String()[c.told:]
	if c.told += len(text); text == "" || c.tell == nil {
		return nil
	}
	return c.tell(text)
}

// Text returns the text checked so far.
func (c *Checker) Text() string { return c.text.String() }

// Cited reports whether the text cites a source, counted from 0.
func (c *Checker) Cited(source int) bool { return c.cited[source] }

// Unknown returns the number of citations removed because they name no source.
func (c *Checker) Unknown() int { return c.unknown }

// last returns the last size bytes of a text.
func last(text string, size int) string { return text[max(0, len(text)-size):] }

// code tracks whether the text is inside a code span or block, by counting backticks.
type code struct {
	ticks int  // at the end of the text so far
	fence int  // number of backticks that opened the code; 0 outside of code
	blank bool // the last character ended a line
}

func (c *code) take(r rune) {
	if r == '`' {
		c.ticks++
		return
	}
	switch {
	case c.ticks == 0:
	case c.fence == 0:
		c.fence = c.ticks
	case c.ticks == c.fence || c.fence >= 3 && c.ticks > c.fence:
		c.fence = 0
	}
	c.ticks = 0
	if r == '\n' && c.blank && c.fence < 3 {
		c.fence = 0 // a span ends with its paragraph
	}
	c.blank = r == '\n'
}

func (c *code) write(text string) {
	for _, r := range text {
		c.take(r)
	}
}

func (c *code) within() bool { return c.fence > 0 }
