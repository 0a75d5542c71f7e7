package clean

import (
	"bytes"
	"errors"
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxBytes is the maximum length of a text. A model that respects its token limit stays far below
	// it.
	MaxBytes = 32 << 10
	// maxWord is the number of bytes of a word that are held back. A longer one is broken up.
	maxWord = 2 << 10
	// maxCitation is the number of bytes of a citation that are held back.
	maxCitation = 512
)

// ErrFull is returned when a text reaches MaxBytes. The text up to there is checked and kept.
var ErrFull = errors.New("the text reached its greatest length")

// Checker takes a text in pieces and writes what it has checked. A word is held back until white
// space, or a sign such as 。, closes it. The result does not depend on how the text is split.
type Checker struct {
	tell    func(text string) error
	sources []string
	lookups int // of addresses in the sources

	filter Filter
	recent []byte // the last characters, as long as a scheme
	size   int    // bytes taken
	full   bool   // the text reached MaxBytes
	blanks []byte
	word   []byte
	text   strings.Builder // checked
	told   int             // bytes of it

	code    code
	first   bool // the line so far has only what may start a paragraph, such as > or 1.
	image   bool // the paragraph has an image's beginning
	cited   []bool
	unknown int
}

// NewChecker returns a checker for a text that may cite these sources, numbered from 1, and may
// link to addresses in them. tell gets the checked text piece by piece; concatenated, the pieces
// equal Text. An error of tell ends the work. tell may be nil.
func NewChecker(sources []string, tell func(text string) error) *Checker {
	c := &Checker{tell: tell, cited: make([]bool, len(sources)), first: true}
	c.code.tell = c.take
	for _, text := range sources {
		text = Printable(text)
		c.sources = append(c.sources, text+"\n"+html.UnescapeString(text))
	}
	return c
}

// Write takes the next piece, of any number of characters.
func (c *Checker) Write(piece string) error {
	for _, r := range piece {
		if c.size += utf8.RuneLen(r); c.size > MaxBytes || c.full {
			c.full = true
			break
		}
		if r = c.filter.Map(r); r >= 0 && !((r == '\t' || r == '\n') && openScheme.Match(c.recent)) {
			c.recent = utf8.AppendRune(c.recent[max(0, len(c.recent)-maxScheme):], r)
			c.code.take(r)
		}
	}
	if err := c.pass(); err != nil {
		return err
	}
	if c.full {
		return ErrFull
	}
	return nil
}

// openScheme ends a word that goes on after a tab or line break, which browsers ignore there.
var openScheme = regexp.MustCompile(`(?i)(?:https?|ftp):[/\\]$`)

const maxScheme = len("https:/")

// isOpen reports whether the word may go on as a citation after white space or a sign.
func (c *Checker) isOpen() bool {
	return bytes.ContainsAny(c.word, brackets) && unfinished.Match(c.word[max(0, len(c.word)-maxCitation):])
}

// take takes text in which code is masked.
func (c *Checker) take(text string) {
	for _, r := range text {
		c.add(r)
	}
}

func (c *Checker) add(r rune) {
	if unicode.IsSpace(r) && !c.isOpen() {
		c.end()
		c.blanks = utf8.AppendRune(c.blanks, r)
		return
	}
	if len(c.word)+utf8.RuneLen(r) > maxWord {
		c.word = append(c.word, "…"...) // neither an address nor a citation contains it
		c.end()
		c.blanks = append(c.blanks, ' ')
	}
	c.word = utf8.AppendRune(c.word, r)
	if endsWord(r) && !bytes.Contains(c.word, []byte("<")) && !c.isOpen() {
		c.end()
	}
}

// endsWord reports whether a character ends a word: signs of scripts that have no spaces, but
// brackets of citations. No address contains them.
func endsWord(r rune) bool {
	return r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '–' && !strings.ContainsRune(brackets, r) && !isMask(r)
}

// Close ends the text. An unfinished citation is dropped.
func (c *Checker) Close() error {
	c.code.close()
	c.word = unfinished.ReplaceAll(c.word, nil)
	c.end()
	return c.pass()
}

// Append adds text of the service's own after Close.
func (c *Checker) Append(text string) error {
	c.text.WriteString(text)
	return c.pass()
}

// end checks the word and writes it after the white space before it, of which only an indentation
// that makes code is kept at the beginning of the text, and none at its end.
func (c *Checker) end() {
	if len(c.word) == 0 {
		return
	}
	word, blanks := string(c.word), string(c.blanks)
	c.word, c.blanks = c.word[:0], c.blanks[:0]
	if strings.Count(blanks, "\n") > 1 {
		c.image = false
	}
	c.first = c.first || strings.Contains(blanks+word, "\n")
	checked := c.check(word)
	c.first = c.first && strings.Trim(word, ">-*+#.)|~:0123456789") == ""
	if c.text.Len() == 0 {
		if blanks = blanks[strings.LastIndexByte(blanks, '\n')+1:]; len(blanks) < 4 && !strings.Contains(blanks, "\t") && !opensCode.MatchString(word) {
			blanks = ""
		}
	}
	if c.full = c.full || c.text.Len()+len(blanks)+len(checked) > MaxBytes; !c.full {
		c.text.WriteString(blanks + checked)
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

// Unknown returns the number of brackets that look like citations and are text, because they name
// no source.
func (c *Checker) Unknown() int { return c.unknown }
