package migrate

import "strings"

// space is what SQL takes for white space: less than Unicode does.
const space = " \t\r\n\f\v"

// The functions here get SQL that begins with a token, and return the token's length in bytes.

// upTo is the length of text up to and with the first end at or after from, or all of it.
func upTo(text string, from int, end string) int {
	if i := strings.Index(text[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(text)
}

func blockComment(text string) int {
	depth := 0
	for i := 0; i+1 < len(text); {
		switch text[i : i+2] {
		case "/*":
			depth++
			i += 2
		case "*/":
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(text)
}

// quoted reads a string or a quoted name; a doubled quote stands for itself.
func quoted(text string, quote byte, backslashes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case backslashes && text[i] == '\\':
			i++
		case text[i] != quote:
		case i+1 < len(text) && text[i+1] == quote:
			i++
		case backslashes && continued(text[i+1:]) > 0:
			i += continued(text[i+1:])
		default:
			return i + 1
		}
	}
	return len(text)
}

// continued is the length of what joins a string to its next part, the part's quote included: SQL takes 'a' and 'b' on
// lines of their own for one string, and the rules of the first part hold in all of it. It is 0 where nothing follows.
func continued(text string) int {
	gap := len(text) - len(strings.TrimLeft(text, space))
	if strings.Contains(text[:gap], "\n") && strings.HasPrefix(text[gap:], "'") {
		return gap + 1
	}
	return 0
}

// dollarQuoted reads $tag$…$tag$, or the dollar alone where it opens no quote, as in $1.
func dollarQuoted(text string) int {
	tag := wordLength(text[1:])
	if i := strings.IndexByte(text[1:1+tag], '$'); i >= 0 {
		tag = i // a word may hold a dollar, a tag may not
	}
	if len(text) <= 1+tag || text[1+tag] != '$' {
		return 1
	}
	return upTo(text, 2+tag, text[:2+tag])
}

// wordLength is the length of the keyword or unquoted name that text begins with; 0 where it begins with none.
func wordLength(text string) int {
	if text == "" || !letter(text[0]) {
		return 0
	}
	return wordRun(text)
}

func wordRun(text string) int {
	n := 0
	for n < len(text) && (letter(text[n]) || text[n] == '$' || text[n] >= '0' && text[n] <= '9') {
		n++
	}
	return n
}

// letter takes every byte over ASCII for one, as Postgres does.
func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
