package chunk

import (
	"strings"
	"unicode/utf8"
)

// MaxHeader is the most tokens that a header has. With Max it keeps an input
// far below the 8,191 tokens that the embedding models take.
const MaxHeader = 64

// headerScan bounds the bytes of a header that are measured: no token of
// cl100k_base is longer than 128 bytes, so that more could not be kept.
const headerScan = MaxHeader * 128

// Header returns the line that tells the model where a chunk comes from: the
// names, outermost first (project, then ticket), joined by a dash. Names that
// are empty are left out, as a project's own text has no ticket; white space
// within a name becomes single spaces. A header of more than MaxHeader tokens
// is cut at a character.
func Header(tokenizer Tokenizer, names ...string) string {
	var kept []string
	for _, name := range names {
		if name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "\uFFFD")), " "); name != "" {
			kept = append(kept, name)
		}
	}
	header := back(strings.Join(kept, " — "), headerScan)
	for {
		lengths := tokenizer.Lengths(header)
		if len(lengths) <= MaxHeader {
			return header
		}
		size := 0
		for _, length := range lengths[:MaxHeader] {
			size += length
		}
		// A cut can leave other tokens than were counted, hence once more;
		// every turn drops at least a token.
		header = strings.TrimRight(back(header, size), " —")
	}
}

// back returns the longest prefix of text that has at most size bytes and
// splits no character.
func back(text string, size int) string {
	if size >= len(text) {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}

// Input returns what is embedded for a chunk: the header, a blank line and the
// chunk's text, or the text alone where there is no header.
func Input(header, text string) string {
	if header == "" {
		return text
	}
	return header + "\n\n" + text
}
