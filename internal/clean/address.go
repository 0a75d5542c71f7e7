package clean

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// removed replaces an address that occurs in no source, and noImage the beginning of an image.
const (
	removed = "(link removed)"
	noImage = "(image removed)"
)

var (
	// address finds where a client may see an address: a scheme, www., or the host of an address
	// without a scheme. Schemes that run or hold code need no slashes. A scheme alone is no address.
	address = regexp.MustCompile(`(?i)([a-z][a-z0-9+.\-]*://[^\pL\pN]*[\pL\pN]|://[^\pL\pN]*[\pL\pN]|[a-z]*script:[^"'*.,)` + "`" + `\s])` +
		`|["'=(<]((?:java|vb)script:)|(?:^|[^a-z0-9])((?:https?|ftp):/?[a-z0-9]|data:(?:[a-z]+/[a-z0-9]|[;,])|www\.)` +
		`|(?:^|[^a-z0-9:/.])(//[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})`)
	// image is the beginning of an HTML element that loads an address.
	image = regexp.MustCompile(`(?i)<(?:img|image|picture|svg|video|audio|iframe|embed)(?:[/\\]|$)`)
	// autolink is what Markdown turns into a link within <>.
	autolink = regexp.MustCompile(`<[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>]*>`)
	unspaced = regexp.MustCompile(`\S+`)
	// ends is where an address ends in a source.
	ends = regexp.MustCompile("^[.,;:!?*_~]*(?:[\\s<>\"'`|)\\]}]|[^\\x00-\\x7F]|$)")
)

// begins returns where the first address of a text begins, or -1. It reads \ as /, as programs do.
func begins(text string) int {
	groups := address.FindStringSubmatchIndex(strings.ReplaceAll(text, `\`, "/"))
	for i := 2; i < len(groups); i += 2 {
		if groups[i] >= 0 {
			return groups[i]
		}
	}
	return -1
}

// links returns a part of a word with only addresses that occur in a source.
func (c *Checker) links(text string) string {
	text = unspaced.ReplaceAllStringFunc(text, func(part string) string {
		decoded := html.UnescapeString(part)
		if decoded == part {
			return part
		}
		if decoded = strings.Join(strings.Fields(Printable(decoded)), ""); begins(decoded) >= 0 || image.MatchString(decoded) {
			return decoded
		}
		return part
	})
	text = c.brackets(text)
	var out strings.Builder
	for at := begins(text); at >= 0; at = begins(text) {
		out.WriteString(image.ReplaceAllString(text[:at], noImage))
		run := text[at:]
		if end := strings.IndexFunc(run, func(r rune) bool { return unicode.IsSpace(r) || r == '<' || endsWord(r) }); end >= 0 {
			run = run[:end]
		}
		size, known := c.known(run)
		if text = text[at+size:]; !known {
			out.WriteString(removed)
			continue
		}
		out.WriteString(run[:size])
		if r, _ := utf8.DecodeRuneInString(text); text != "" && r >= utf8.RuneSelf {
			out.WriteByte(' ') // some clients read on
		}
	}
	out.WriteString(image.ReplaceAllString(text, noImage))
	return autolink.ReplaceAllStringFunc(strings.ReplaceAll(out.String(), "("+removed+")", removed), func(link string) string {
		if inside := link[1 : len(link)-1]; !c.sourced(inside) {
			return "<" + inside + " >"
		}
		return link
	})
}

// brackets breaks with a blank what Markdown would turn into a link, an image or the definition of
// one, but links to an address in a source.
func (c *Checker) brackets(text string) string {
	c.image = c.image || strings.Contains(text, "![")
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "]")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteByte(']')
		switch {
		case strings.HasPrefix(rest, "("):
			target, _, ended := strings.Cut(rest[1:], ")")
			if c.image || !ended || !strings.HasPrefix(target, "http") || !c.sourced(target) {
				out.WriteByte(' ')
			}
		case strings.HasPrefix(rest, ":") && (c.first || !strings.Contains(before, "[")):
			out.WriteByte(' ')
		}
		text = rest
	}
}

// closing are characters that end a sentence or quotation rather than an address. At most
// maxPunctuation of them may follow one.
const (
	punctuation    = ".,;:!?'\")]}>*_~|`"
	maxPunctuation = 8
)

// known returns how much of a text is an address that a source contains or, if none is, how much is
// to be replaced.
func (c *Checker) known(run string) (size int, known bool) {
	ascii := run
	if i := strings.IndexFunc(run, func(r rune) bool { return r >= utf8.RuneSelf }); i > 0 {
		ascii = run[:i] // the rest may be text in a script without spaces
	}
	for _, address := range []string{run, ascii} {
		shortest := max(len(address)-maxPunctuation, len(strings.TrimRight(address, punctuation)))
		for end := len(address); end >= shortest; end-- {
			if c.sourced(address[:end]) {
				return len(address), true
			}
		}
	}
	ascii, _, _ = strings.Cut(ascii, "`") // which may close code
	return max(1, len(strings.TrimRight(ascii, punctuation+`\`))), false
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// maxLookups bounds how often sources are searched for an address, which costs as much as they are
// long. No honest answer has so many.
const maxLookups = 1000

// sourced reports whether a source contains an address as a whole, not as a part of a longer one.
// After maxLookups none is found.
func (c *Checker) sourced(address string) bool {
	if c.lookups++; c.lookups > maxLookups {
		return false
	}
	address = unmasked(address, firstMask)
	for _, text := range c.sources {
		for at := strings.Index(text, address); at >= 0; {
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			text = text[at+len(address):]
			if !strings.ContainsRune(alphanumeric+".-", before) && ends.MatchString(text) {
				return true
			}
			at = strings.Index(text, address)
		}
	}
	return false
}
