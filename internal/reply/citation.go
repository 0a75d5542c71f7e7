package reply

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	separators = regexp.MustCompile(`[\s,;]+`)
	interval   = regexp.MustCompile(`^(\d+)(?:[-–](\d+))?$`)

	citation    = regexp.MustCompile(`\[\s*\d[\d\s,;–-]*\]`)
	onlyCites   = regexp.MustCompile(`^[\d\s,;–-]*$`)
	closesCited = regexp.MustCompile(`^[\d\s,;–-]*\]`)
	cutOff      = regexp.MustCompile(`\[[\d\s,;–-]*\d[\d\s,;–-]*$`)
)

// check returns a word with its citations and addresses checked, and whether a citation was
// removed. What stands between citations is checked by links.
func (c *Checker) check(word string) (checked string, removed bool) {
	if found := closesCited.FindString(word); c.citing && found != "" {
		word = strings.TrimSuffix(found, "]") + "…" + word[len(found)-1:] // the bracket was too long to be read
	}
	before := ""
	if c.joined {
		before = c.tail
	}
	var out strings.Builder
	text := "" // since the last citation
	for {
		at := citation.FindStringIndex(word)
		if at == nil {
			break
		}
		prefix, inside, rest := word[:at[0]], word[at[0]+1:at[1]-1], word[at[1]:]
		code := c.code
		code.write(prefix)
		last, _ := utf8.DecodeLastRuneInString(before + text + prefix)
		numbers, unknown, is := readCitation(inside, len(c.cited))
		switch {
		case !is: // such as [1-]
			text += prefix + "[" + inside + "…]"
		case code.within() && (inName(last) || last == ']' || last == ')'):
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
			part := c.links(text+prefix, out.Len() == 0, false)
			out.WriteString(part)
			if strings.HasSuffix(part, "!") || c.sealed { // some clients would render ![1] as an image
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
		c.code = code
		c.code.take(']')
		word = rest
	}
	c.code.write(word)
	out.WriteString(c.links(text+word, out.Len() == 0, true))
	return c.autolinks(out.String()), removed
}

// cites reports whether a word ends within a bracket that may be a citation.
func cites(word []byte) bool {
	depth := 0
	for end := len(word); end > 0; {
		r, size := utf8.DecodeLastRune(word[:end])
		switch end -= size; {
		case r == ']':
			depth++
		case r == '[' && depth == 0:
			return true
		case r == '[':
			depth--
		case !strings.ContainsRune("0123456789,;-–", r) && !unicode.IsSpace(r):
			return false
		}
	}
	return false
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// readCitation parses the content of a bracket: [1], [1, 2] or [1-3]. It returns the numbers of
// existing sources and how many numbers name no source.
func readCitation(inside string, sources int) (numbers []int, unknown int, is bool) {
	named := map[int]bool{}
	for _, part := range separators.Split(strings.TrimSpace(inside), -1) {
		ends := interval.FindStringSubmatch(part)
		if ends == nil {
			return nil, 0, false
		}
		// A number too large for an int is unknown, like any number above sources.
		low, err := strconv.Atoi(ends[1])
		high := low
		if err == nil && ends[2] != "" {
			high, err = strconv.Atoi(ends[2])
		}
		if err != nil || low < 1 || high > sources || high < low {
			unknown++
		}
		if err != nil {
			continue
		}
		for number := max(low, 1); number <= min(high, sources); number++ {
			if !named[number] {
				named[number] = true
				numbers = append(numbers, number)
			}
		}
	}
	return numbers, unknown, true
}
