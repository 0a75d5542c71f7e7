package reply

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/clean"
)

// removed replaces an address that occurs in no source, and noImage the beginning of an image.
const (
	removed = "(link removed)"
	noImage = "(image removed)"
)

// begin finds where a client may see an address in a folded text: a scheme, www., or the host of an
// address without a scheme. Schemes that run or hold code need no slashes.
var begin = regexp.MustCompile(`[a-z][a-z0-9+.\-]*://|://|(?:https?|ftp):/?[a-z0-9]|["'=(<](?:java|vb)script:|(?:java|vb)script:[a-z0-9_(\[{%/!~+*;$&-]|` +
	`data:(?:[a-z]+/[a-z0-9]|[;,])|www\.|//[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}`)

// image is the beginning of an HTML element that loads an address.
var image = regexp.MustCompile(`(?i)<(?:img|image|picture|svg|video|audio|iframe|embed)(?:[/\\]|$)`)

// fold returns a text of the same length as programs read addresses: without case, \ as /.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\\' {
			return '/'
		} else if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// plain returns a text with its HTML entities decoded, as often as they are nested, and without
// what they hide.
func plain(text string) string {
	for range 4 {
		decoded := html.UnescapeString(text)
		if decoded == text {
			break
		}
		text = strings.Join(strings.Fields(clean.Visible(decoded)), "")
	}
	return text
}

// next returns where the first address of a text begins, or -1. tail is what stands before the
// text.
func next(tail, text string) int {
	folded := tail + text
	for from := 0; from < len(folded); {
		at := begin.FindStringIndex(folded[from:])
		if at == nil {
			return -1
		}
		start, end := from+at[0], from+at[1]
		before, _ := utf8.DecodeLastRuneInString(folded[:start])
		from = start + 1
		switch rooted := strings.HasPrefix(folded[start:], "//"); {
		case end <= len(tail), rooted && (asciiWord(before) || before == ':' || before == '/' || before == '.'):
			continue
		case !strings.Contains(folded[start:end], "//") && asciiWord(before):
			continue
		case start < len(tail) && folded[len(tail)-1] == ':' && !strings.HasSuffix(folded[:end], "//"): // a sentence that goes on
			continue
		case strings.IndexByte(`"'=(<`, folded[start]) >= 0:
			start++
		}
		return max(0, start-len(tail))
	}
	return -1
}

func asciiWord(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// closing are characters that end a sentence or quotation rather than an address. At most
// maxClosing of them may follow one.
const (
	closing    = ".,;:!?'\")]}>*_~|`"
	maxClosing = 8
)

// links returns a part of a word with only addresses that occur in a source. first and final tell
// whether the part is the word's beginning and end.
func (c *Checker) links(text string, first, final bool) string {
	c.sealed = false
	tail := ""
	if first {
		tail = fold(c.tail)
	}
	if decoded := plain(text); decoded != text && (next(tail, fold(decoded)) >= 0 || image.MatchString(decoded)) {
		text = decoded
	}
	text = c.brackets(text, first)
	var out strings.Builder
	for text != "" {
		at := next(tail, fold(text))
		if at < 0 {
			break
		}
		out.WriteString(c.mails(image.ReplaceAllString(text[:at], noImage)))
		tail = ""
		address := text[at:]
		if end := strings.IndexFunc(address, func(r rune) bool { return unicode.IsSpace(r) || r == '<' || closes(r) }); end >= 0 {
			address = address[:end]
		}
		size, is := c.known.address(address)
		if final && c.partly && at+len(address) == len(text) { // its rest is yet to come
			size, is, c.dropping = len(address), false, true
		}
		if is {
			out.WriteString(address[:size])
		} else {
			out.WriteString(removed)
		}
		text = text[at+size:]
		c.sealed = is && text == ""
		if r, _ := utf8.DecodeRuneInString(text); is && text != "" && r >= utf8.RuneSelf {
			out.WriteByte(' ') // some clients read on
		}
	}
	return out.String() + c.mails(image.ReplaceAllString(text, noImage))
}

// calls are parentheses after brackets that hold no address, such as handlers[i](event).
var calls = regexp.MustCompile(`\]\(([^():/\\.%&#?@<>\s]*)\)`)

// brackets breaks with a blank what Markdown would turn into an image, a link or the definition of
// one, but links to an address in a source.
func (c *Checker) brackets(text string, first bool) string {
	if first && c.joined && strings.HasSuffix(c.tail, "]") && strings.HasPrefix(text, "(") {
		text = " " + text
	}
	c.image = c.image || strings.Contains(last(c.tail, 1)+text, "![")
	var out strings.Builder
	for from := 0; ; {
		at := strings.IndexByte(text[from:], ']')
		if at < 0 {
			return out.String() + text[from:]
		}
		at += from
		out.WriteString(text[from : at+1])
		from = at + 1
		switch rest := text[from:]; {
		case strings.HasPrefix(rest, "("):
			inside, ended := target(rest[1:])
			address := strings.Trim(inside, "<>")
			known := ended && webTarget.MatchString(address) && c.known.has(address)
			call := ended && calls.MatchString("]("+inside+")")
			switch {
			case known && !c.image:
				if strings.ContainsAny(address, "()") {
					out.WriteString("(<" + address + ">)")
					from += len(inside) + len("()")
				}
			case call && c.known.hasCall("]("+inside+")"):
			case ended && !known && !call:
				out.WriteString(" " + removed)
				from += len(inside) + len("()")
			default:
				out.WriteByte(' ')
			}
		case strings.HasPrefix(rest, ":") && (c.first || !strings.Contains(text[:at], "[")):
			out.WriteByte(' ')
		}
	}
}

// target returns the target of a link up to the parenthesis that ends it.
func target(text string) (inside string, ended bool) {
	depth := 0
	for i := range len(text) {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')' && depth == 0:
			return text[:i], true
		case text[i] == ')':
			depth--
		}
	}
	return "", false
}

// autolink is what Markdown turns into a link within <>.
var autolink = regexp.MustCompile(`<[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>]*(?:>|$)`)

// autolinks breaks those with a blank that do not occur in a source, and those whose end is yet to
// come.
func (c *Checker) autolinks(word string) string {
	return autolink.ReplaceAllStringFunc(word, func(link string) string {
		inside, ended := strings.CutSuffix(link, ">")
		if ended && c.known.has(inside[1:]) || !ended && !c.partly {
			return link
		}
		return inside + " " + link[len(inside):]
	})
}

func inDomain(r rune) bool { return asciiWord(r) || r == '.' || r == '-' || r == '_' }

// inMailbox are the characters besides letters and digits that may occur before the @.
const inMailbox = ".!#$%&'*+/=?^_`{|}~-"

// mailbox returns the local part at the end of the text before an @.
func mailbox(before string) string {
	name := before[strings.LastIndexFunc(before, func(r rune) bool { return !asciiWord(r) && !strings.ContainsRune(inMailbox, r) })+1:]
	return strings.TrimLeft(name, "*_~`'") // emphasis, or a quotation
}

// mails splits email addresses that occur in no source, so that no client links them.
func (c *Checker) mails(text string) string {
	for from := 0; ; {
		at := strings.IndexByte(text[from:], '@')
		if at < 0 {
			return text
		}
		at += from
		before, domain := text[:at], text[at+1:]
		if at < maxTail && c.joined {
			before = c.tail + before
		}
		if end := strings.IndexFunc(domain, func(r rune) bool { return !inDomain(r) }); end >= 0 {
			domain = domain[:end]
		}
		ends := !c.partly || at+1+len(domain) < len(text)
		domain = strings.TrimRight(domain, ".-_")
		name := mailbox(before)
		angled := strings.LastIndexByte(before, '<') > strings.LastIndexByte(before, '>')
		if from = at + 1; !ends || domain != "" && (angled || name != "" && strings.Contains(domain, ".")) && !c.known.hasMail(name+"@"+domain) {
			text = text[:at] + " " + text[at:]
			from++
		}
	}
}
