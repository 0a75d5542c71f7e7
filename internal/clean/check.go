package clean

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// check returns a word with its citations and addresses checked. What stands between citations is
// checked by links. Brackets that cite nothing are text.
func (c *Checker) check(word string) string {
	var out strings.Builder
	text := "" // since the last citation
	for {
		at := citation.FindStringSubmatchIndex(word)
		if at == nil {
			break
		}
		bracket, rest := word[at[0]:at[1]], word[at[1]:]
		text += word[:at[0]]
		numbers, known := c.readCitation(word[at[2]:at[3]])
		if word = rest; !known || c.quotes(text, bracket) {
			if text += bracket; !known {
				c.unknown++
			}
			continue
		}
		out.WriteString(unmasked(c.links(unmasked(text, unsureMask)), firstMask))
		if strings.HasSuffix(text, "!") || begins(text) >= 0 { // some clients would render ![1] as an image
			out.WriteByte(' ')
		}
		for _, number := range numbers {
			out.WriteString("[" + strconv.Itoa(number) + "]")
			c.cited[number-1] = true
		}
		if text = ""; strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, ":") && c.first {
			out.WriteByte(' ')
		}
	}
	text += word
	out.WriteString(unmasked(c.links(unmasked(text, unsureMask)), firstMask))
	if unfinished.MatchString(text) {
		out.WriteString("…") // the next word must not make a citation of it
	}
	return out.String()
}

// quotes reports whether a bracket belongs to the word before it because a source has both, such as
// rows[1].
func (c *Checker) quotes(text, bracket string) bool {
	name := text[strings.LastIndexFunc(text, func(r rune) bool { return !indexed(r) })+1:]
	return name != "" && slices.ContainsFunc(c.sources, func(source string) bool { return strings.Contains(source, name+bracket) })
}

// indexed reports whether a character may stand before an index.
func indexed(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_[])", r)
}

// readCitation parses the content of a bracket: 1, or 1, 2, or 1-3, or Source 1. It returns the
// numbers of sources, and whether there are no others.
func (c *Checker) readCitation(inside string) (numbers []int, known bool) {
	for _, ends := range numbered.FindAllStringSubmatch(inside, -1) {
		if ends[1] == "" {
			break // what is said of the source
		}
		low, high := number(ends[1]), number(cmp.Or(ends[2], ends[1]))
		if low < 1 || high > len(c.cited) || high < low {
			return nil, false
		}
		for number := low; number <= high; number++ {
			if !slices.Contains(numbers, number) {
				numbers = append(numbers, number)
			}
		}
	}
	return numbers, true
}

// number reads decimal digits of any script, whose sets begin with a zero. One that is too large
// names no source.
func number(digits string) (n int) {
	for _, r := range digits {
		zero := r
		for unicode.IsDigit(zero - 1) {
			zero--
		}
		n = min(10*n+int(r-zero)%10, math.MaxInt32)
	}
	return n
}
