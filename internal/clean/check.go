package clean

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var ticks = regexp.MustCompile("`+")

// code tracks whether the text is inside a code span, which ends with its paragraph, or a block.
type code struct{ span, block bool }

func (c *code) read(text string) {
	for _, run := range ticks.FindAllString(text, -1) {
		if len(run) >= 3 {
			c.span, c.block = false, !c.block
		} else {
			c.span = !c.span && !c.block
		}
	}
}

// check returns a word with its citations and addresses checked, and whether a citation was
// removed. What stands between citations is checked by links.
func (c *Checker) check(word string) (checked string, removed bool) {
	var out strings.Builder
	text := "" // since the last citation
	for {
		at := citation.FindStringSubmatchIndex(word)
		if at == nil {
			break
		}
		prefix, inside, rest := word[:at[0]], word[at[2]:at[3]], word[at[1]:]
		code := c.code
		code.read(prefix)
		before, _ := utf8.DecodeLastRuneInString(text + prefix)
		numbers, unknown := c.readCitation(inside)
		switch {
		case (code.span || code.block) && (before == '_' || before == ']' || before == ')' || unicode.IsLetter(before) || unicode.IsDigit(before)):
			text += prefix + "(" + inside + ")" // an array index, in the form in which the model got it
		case len(numbers) == 0:
			c.unknown += unknown
			removed = true
			if out.Len()+len(text+prefix) > 0 && strings.Trim(rest, ".,;:!?)") != "" {
				rest = " " + rest // the two sides must not make an address
			}
			word = prefix + rest
			continue
		default:
			c.unknown += unknown
			text += prefix
			out.WriteString(c.links(text))
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
		c.code, word = code, rest
	}
	c.code.read(word)
	out.WriteString(c.links(text + word))
	if checked = out.String(); unfinished.MatchString(checked) {
		checked += "…" // the next word must not make a citation of it
	}
	return checked, removed
}

// readCitation parses the content of a bracket: 1, or 1, 2, or 1-3, or Source 1. It returns the
// numbers of existing sources and how many numbers name no source.
func (c *Checker) readCitation(inside string) (numbers []int, unknown int) {
	for _, ends := range numbered.FindAllStringSubmatch(inside, -1) {
		if ends[1] == "" {
			break // what is said of the source
		}
		low, high := number(ends[1]), number(cmp.Or(ends[2], ends[1]))
		if low < 1 || high > len(c.cited) || high < low {
			unknown++
		}
		for number := max(low, 1); number <= min(high, len(c.cited)); number++ {
			if !slices.Contains(numbers, number) {
				numbers = append(numbers, number)
			}
		}
	}
	return numbers, unknown
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
