package chunk

import (
	"strings"

	"tasklens/internal/clean"
)

// MaxHeader is the maximum number of tokens of a header. With Max it keeps an input far below the
// 8,191 tokens that embedding models accept.
const MaxHeader = 64

// headerScan bounds the bytes of a header that are tokenized. No token of cl100k_base is longer
// than 128 bytes, so more could not be kept.
const headerScan = MaxHeader * 128

// Header returns the line that tells the model where a chunk comes from: the names, outermost first
// (project, then ticket), joined by a dash. Empty names are left out: a project's own text has no
// ticket. White space within a name becomes single spaces. A header longer than MaxHeader tokens is
// truncated at a character.
func Header(tokenizer Tokenizer, names ...string) string {
	var kept []string
	for _, name := range names {
		if name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "\uFFFD")), " "); name != "" {
			kept = append(kept, name)
		}
	}
	header := clean.ClipBytes(strings.Join(kept, " — "), headerScan)
	for {
		lengths := tokenizer.Lengths(header)
		if len(lengths) <= MaxHeader {
			return header
		}
		size := 0
		for _, length := range lengths[:MaxHeader] {
			size += length
		}
		// A truncated text may tokenize differently, so check again. Each iteration removes at
		// least one token.
		header = strings.TrimRight(clean.ClipBytes(header, size), " —")
	}
}

// Input returns the embedding input of a chunk: the header, a blank line and the text, or only the
// text if there is no header.
func Input(header, text string) string {
	if header == "" {
		return text
	}
	return header + "\n\n" + text
}
