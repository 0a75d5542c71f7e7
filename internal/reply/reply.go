// Package reply checks the output of a chat model as a stream: citations name existing sources,
// links occur in a source, there are no images or invisible characters, and the length is bounded.
// It knows neither models nor where sources come from.
package reply

import (
	"errors"
	"unicode/utf8"

	"tasklens/internal/clean"
)

// MaxBytes is the maximum length of a text. A model that respects its token limit stays far below
// it.
const MaxBytes = 32 << 10

// ErrFull is returned when a text reaches MaxBytes. The text up to there is checked and kept.
var ErrFull = errors.New("the text reached its greatest length")

// Checker takes a text in pieces and writes what it has checked. Plain text passes at once;
// brackets, addresses and blanks are buffered, up to a limit, until what follows decides. The
// result does not depend on how the text is split into pieces.
type Checker struct {
	tell     func(text string) error
	told     int    // bytes
	broken   []byte // an incomplete UTF-8 character
	read     int    // bytes
	filter   clean.Filter
	code     code
	brackets brackets
	address  addresses
	out      output
}

// New returns a checker for a text that may cite these sources, numbered from 1, and may link to
// addresses in them. tell gets the checked text piece by piece; concatenated, the pieces equal
// Text. An error of tell ends the work. tell may be nil.
func New(sources []string, tell func(text string) error) *Checker {
	c := &Checker{tell: tell, out: output{cited: make([]bool, len(sources)), lineStart: true}}
	known := &known{texts: sources}
	c.address = addresses{out: &c.out, known: known}
	c.brackets = brackets{next: &c.address, out: &c.out, known: known, code: &c.code, sources: len(sources), closed: none}
	return c
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
		if c.read += size; c.read > MaxBytes || c.out.full {
			c.out.full = true
			break
		}
		c.take(r)
	}
	if err := c.pass(); err != nil {
		return err
	}
	if c.out.full {
		return ErrFull
	}
	return nil
}

func (c *Checker) take(r rune) {
	if r = c.filter.Map(r); r >= 0 {
		c.code.take(r)
		c.brackets.take(r)
	}
}

// Close ends the text. An unfinished citation, link or address is dropped.
func (c *Checker) Close() error {
	if len(c.broken) > 0 && !c.out.full {
		c.take(utf8.RuneError)
	}
	c.broken = nil
	c.brackets.close()
	c.address.end()
	return c.pass()
}

// Append adds text of the service's own after Close.
func (c *Checker) Append(text string) error {
	c.out.text.WriteString(text)
	return c.pass()
}

// pass sends what was checked since the last call to tell.
func (c *Checker) pass() error {
	text := c.out.text.String()[c.told:]
	if c.told += len(text); text == "" || c.tell == nil {
		return nil
	}
	return c.tell(text)
}

// Text returns the text checked so far.
func (c *Checker) Text() string { return c.out.text.String() }

// Cited reports whether the text cites a source, counted from 0.
func (c *Checker) Cited(source int) bool { return c.out.cited[source] }

// Unknown returns the number of citations removed because they name no source.
func (c *Checker) Unknown() int { return c.brackets.unknown }

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

func (c *code) within() bool { return c.fence > 0 }
