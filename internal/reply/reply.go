// Package reply checks what a chat model writes, while it comes: citations are of known sources, links lead where a source
// leads, nothing is an image or invisible, and the text has an end. It knows neither models nor where sources come from.
package reply

import (
	"errors"
	"unicode/utf8"

	"tasklens/internal/clean"
)

// MaxBytes is the greatest length of a text. A model that keeps to the tokens it is granted stays far below it.
const MaxBytes = 32 << 10

// ErrFull is the error of a text that reached MaxBytes. What it has by then is checked and stays.
var ErrFull = errors.New("the text reached its greatest length")

// Checker takes a text in pieces and lets go on what is checked. Text goes on as it comes; brackets, addresses and blanks
// wait, within a bound, for what follows. However a text is cut into pieces, the same comes out.
type Checker struct {
	tell     func(text string) error
	told     int    // bytes
	broken   []byte // the beginning of a character
	read     int    // bytes
	filter   clean.Filter
	code     code
	brackets brackets
	address  addresses
	out      output
}

// New makes a checker of a text that may cite these sources, [1] being the first, and may link to what stands in one.
// tell gets the pieces of the checked text, which put together are Text; its error ends the work. It may be nil.
func New(sources []string, tell func(text string) error) *Checker {
	c := &Checker{tell: tell, out: output{cited: make([]bool, len(sources)), lineStart: true}}
	known := &known{texts: sources}
	c.address = addresses{out: &c.out, known: known}
	c.brackets = brackets{next: &c.address, out: &c.out, known: known, code: &c.code, sources: len(sources), closed: none}
	return c
}

// Write takes a piece of any size.
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

// Close ends the text. A citation, link or address that was never closed is half of one and left out.
func (c *Checker) Close() error {
	if len(c.broken) > 0 && !c.out.full {
		c.take(utf8.RuneError)
	}
	c.broken = nil
	c.brackets.close()
	c.address.end()
	return c.pass()
}

// Append adds a text of the caller's own to a closed one.
func (c *Checker) Append(text string) error {
	c.out.text.WriteString(text)
	return c.pass()
}

// pass lets go on what was checked since the last time.
func (c *Checker) pass() error {
	text := c.out.text.String()[c.told:]
	if c.told += len(text); text == "" || c.tell == nil {
		return nil
	}
	return c.tell(text)
}

// Text is what was checked so far.
func (c *Checker) Text() string { return c.out.text.String() }

// Cited says of a source, counted from 0, whether the text cites it.
func (c *Checker) Cited(source int) bool { return c.out.cited[source] }

// Unknown is how many citations were taken out because they name no source.
func (c *Checker) Unknown() int { return c.brackets.unknown }

// code follows whether a text is within a code span or block, by its backticks.
type code struct {
	ticks int  // of the run that a text ends with
	fence int  // ticks that began the code; 0 outside
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
