package clean

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// code finds what Markdown shows as code in a text that arrives character by character: blocks
// between fences, indented blocks, and spans, which are held back until they are closed. It masks
// their brackets, so that nothing there reads as notation; a client may not show unsure ones as
// code.
type code struct {
	tell         func(text string)
	line         []byte // so far, up to maxLine bytes
	fence        string // of the open block, which begins at column
	column       int    // -1 if it is unsure, as after a line to the left of it
	indent, text bool   // the line is code by its indentation; the one before is text, which it continues
	item         int    // the column where the text of a list's item begins
	html, escape bool   // an element may have begun, and nothing is sure; after a backslash
	odd          bool   // the paragraph has backticks without others on their line
	span         []byte // held back, from the backticks that open it
	ticks, run   int    // how many these are, 0 until all are there; and those at its end
}

// Bounds of what is read as the mark of a block, and as a span.
const maxLine, maxSpan = 200, 1000

var (
	opensCode = regexp.MustCompile("^[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(?:(`{3,})[^`]*|(~{3,}).*)$")
	listItem  = regexp.MustCompile(`^[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+`)
	newBlock  = regexp.MustCompile(`\n[ \t]*(?:[-*+>]|[0-9]{1,9}[.)]|#{1,6})[ \t]`)
)

func (c *code) take(r rune) {
	if r == '\n' {
		c.endLine()
	} else if len(c.line) < maxLine {
		if r != ' ' && r != '\t' && len(bytes.TrimSpace(c.line)) == 0 {
			columns := indentation(c.line)
			c.item = min(c.item, columns)
			c.indent = c.fence == "" && !c.text && columns >= c.item+4
			if columns < c.column {
				c.column = -1
			}
		}
		c.line = utf8.AppendRune(c.line, r)
	}
	c.inline(r)
}

// indentation is the width of the blanks that a line begins with.
func indentation(line []byte) int {
	blanks := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	return len(bytes.ReplaceAll(blanks, []byte("\t"), []byte("    ")))
}

// endLine finds out whether the line opens or closes a block, or ends a paragraph.
func (c *code) endLine() {
	line, fence := string(c.line), opensCode.FindSubmatch(c.line)
	rest, columns, follows := strings.Trim(line, " \t>"), indentation(c.line), c.text
	c.text = rest != "" && c.fence == "" && !c.indent && fence == nil
	switch {
	case c.fence != "" && strings.HasPrefix(rest, c.fence) && strings.Trim(rest, c.fence[:1]) == "":
		if c.column < 0 || columns <= c.column+3 {
			c.html = c.html || c.column < 0 || columns > max(3, c.column)
			c.fence, c.column = "", 0
		}
	case c.fence != "" || c.indent:
	case fence != nil && len(line) < maxLine:
		c.close()
		c.fence, c.column = string(fence[1])+string(fence[2]), columns
		if c.html || !strings.HasPrefix(strings.TrimLeft(line, " \t"), c.fence) || columns >= 4 && (follows || columns >= c.item+4) {
			c.column = -1
		}
	case rest == "":
		c.close()
		c.odd = false
	case listItem.MatchString(line):
		c.item = len(listItem.FindString(line))
	}
	c.line, c.indent = c.line[:0], false
}

// inline finds spans.
func (c *code) inline(r rune) {
	switch isTick := r == '`'; {
	case c.span == nil && (c.fence != "" || c.indent):
		c.tell(masked(string(r), c.indent || c.column < 0))
	case c.span == nil && (!isTick || c.escape):
		c.escape, c.html = r == '\\' && !c.escape, c.html || r == '<'
		c.tell(string(r))
	case isTick:
		c.span, c.run = append(c.span, '`'), c.run+1
	case c.ticks > 0 && c.run == c.ticks:
		c.endSpan()
		c.inline(r)
	default:
		if c.ticks == 0 {
			c.ticks = c.run
		}
		if c.span, c.run = utf8.AppendRune(c.span, r), 0; len(c.span) > maxSpan {
			c.endSpan()
		}
	}
}

// endSpan gives out what is held back, as code if it is closed. Else its backticks are text, and
// what follows them is read again.
func (c *code) endSpan() {
	text, ticks, isClosed := string(c.span), max(c.ticks, c.run), c.run == c.ticks && !newBlock.Match(c.span)
	c.odd = c.odd || !isClosed || strings.Contains(text, "\n")
	unsure := c.odd || c.html || strings.Contains(text, "|")
	c.html = c.html || unsure && strings.Contains(text, "<")
	if c.span, c.ticks, c.run = nil, 0, 0; isClosed {
		c.tell(masked(text, unsure))
		return
	}
	c.tell(text[:ticks])
	for _, r := range text[ticks:] {
		c.inline(r)
	}
}

// close ends the paragraph.
func (c *code) close() {
	for c.span != nil {
		c.endSpan()
	}
}

// Masks are reserved for programs, and stand for the brackets of code, from unsureMask on for those
// that are unsure.
const firstMask, unsureMask = 0xFDD0, 0xFDE0

func isMask(r rune) bool { return r >= firstMask && r < firstMask+32 }

func masked(text string, unsure bool) string {
	return strings.Map(func(r rune) rune {
		if at := slices.Index([]rune(brackets), r); at >= 0 {
			return rune(at) + map[bool]rune{false: firstMask, true: unsureMask}[unsure]
		}
		return r
	}, text)
}

// unmasked returns a text with the brackets that these masks, and later ones, stand for.
func unmasked(text string, least rune) string {
	return strings.Map(func(r rune) rune {
		if isMask(r) && r >= least {
			return []rune(brackets)[(r-firstMask)%(unsureMask-firstMask)]
		}
		return r
	}, text)
}

// maskCode masks a text, which may be a part of one: where a block stays open, the text may as well
// have begun in one.
func maskCode(text, fence string) string {
	var out strings.Builder
	c := code{tell: func(text string) { out.WriteString(text) }, fence: fence}
	for _, r := range text {
		c.take(r)
	}
	if c.close(); c.fence != "" && fence == "" {
		return maskCode(out.String(), c.fence)
	}
	return out.String()
}
