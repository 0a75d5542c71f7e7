package ticketfile

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline strips the markup within a line. The first pass copies the line, replaces bracketed markup
// and notes bare * and _. The second removes those that pair up around words.
func inline(line string) string {
	if !strings.ContainsAny(line, `*_[{!\`) {
		return line
	}
	out := make([]byte, 0, len(line))
	var marks []int // where in out a * or _ may be emphasis
	for i := 0; i < len(line); {
		if replaced, size := bracketed(line, i); size > 0 {
			out = append(out, replaced...)
			i += size
			continue
		}
		if line[i] == '*' || line[i] == '_' {
			marks = append(marks, len(out))
		}
		out = append(out, line[i])
		i++
	}
	return withoutEmphasis(out, marks)
}

// bracketed reads markup at i that is replaced or kept as a whole: an address, link, user, image,
// monospaced text or escaped character. size is 0 if none starts there. It scans only to the next
// bracket of the same kind, which keeps a line of brackets linear.
func bracketed(line string, i int) (replaced string, size int) {
	rest := line[i:]
	switch rest[0] {
	case 'h':
		if strings.HasPrefix(rest, "http://") || strings.HasPrefix(rest, "https://") {
			if size = strings.IndexAny(rest, " \t|]){}\"<>"); size < 0 {
				size = len(rest)
			}
			return rest[:size], size
		}
	case '\\':
		if len(rest) > 1 && strings.IndexByte("{}[]*_!|", rest[1]) >= 0 {
			return rest[1:2], 2
		}
	case '[':
		if end := strings.IndexAny(rest[1:], "[]"); end > 0 && rest[1+end] == ']' {
			if text, ok := link(rest[1 : 1+end]); ok {
				return text, end + 2
			}
		}
	case '!':
		if end := strings.IndexByte(rest[1:], '!'); end > 0 {
			if name, _, _ := strings.Cut(rest[1:1+end], "|"); isFile(name) {
				return name, end + 2
			}
		}
	case '{':
		if strings.HasPrefix(rest, "{{") {
			end := strings.IndexAny(rest[2:], "{}")
			if end > 0 && strings.HasPrefix(rest[2+end:], "}}") && rest[2] != ' ' && rest[2] != '.' {
				return "`" + rest[2:2+end] + "`", end + 4
			}
		}
	}
	return "", 0
}

// link reads the content of brackets: a user, an address, or a text with an address.
func link(inside string) (string, bool) {
	if user, ok := strings.CutPrefix(inside, "~"); ok && user != "" && !strings.ContainsAny(user, " \t|") {
		return "@" + strings.TrimPrefix(user, "accountid:"), true
	}
	if isAddress(inside) {
		return strings.TrimPrefix(inside, "mailto:"), true
	}
	text, address, ok := strings.Cut(inside, "|")
	if !ok {
		return "", false
	}
	address, _, _ = strings.Cut(address, "|") // the rest is display options
	if !isAddress(address) && !strings.HasPrefix(address, "#") && !strings.HasPrefix(address, "/") {
		return "", false
	}
	address = strings.TrimPrefix(address, "mailto:")
	text = strings.TrimSpace(text)
	if text == "" || text == address {
		return address, true
	}
	return text + " (" + address + ")", true
}

func isAddress(s string) bool {
	if strings.ContainsAny(s, " \t|") {
		return false
	}
	for _, scheme := range []string{"http://", "https://", "ftp://", "file://", "mailto:"} {
		if len(s) > len(scheme) && strings.HasPrefix(s, scheme) {
			return true
		}
	}
	return false
}

// isFile reports whether an exclamation mark encloses an embedded file, rather than ending a
// sentence or a condition.
func isFile(name string) bool {
	if strings.TrimSpace(name) != name || strings.ContainsAny(name, "=&()") && !strings.Contains(name, "://") {
		return false
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".mp4", ".mov", ".webm", ".pdf":
		return len(path.Ext(name)) < len(name)
	}
	return false
}

// withoutEmphasis removes pairs of * and _ around words. A pair that encloses another mark of its
// kind, as in _private_var, stays.
func withoutEmphasis(text []byte, marks []int) string {
	if len(marks) < 2 {
		return string(text)
	}
	drop := map[int]bool{}
	for _, kind := range []byte("*_") {
		open := -1 // a possible start of emphasis, which the next mark of its kind must end
		for _, at := range marks {
			switch {
			case text[at] != kind:
			case open >= 0 && at > open+1 && closes(text, at):
				drop[open], drop[at] = true, true
				open = -1
			case opens(text, at):
				open = at
			default:
				open = -1
			}
		}
	}
	if len(drop) == 0 {
		return string(text)
	}
	kept := make([]byte, 0, len(text))
	for i, b := range text {
		if !drop[i] {
			kept = append(kept, b)
		}
	}
	return string(kept)
}

// opens reports whether the mark at i may begin emphasis: after a space or an opening character,
// and before a word.
func opens(text []byte, i int) bool {
	before, _ := utf8.DecodeLastRune(text[:i])
	behind, _ := utf8.DecodeRune(text[i+1:])
	if i > 0 && !unicode.IsSpace(before) && !strings.ContainsRune("([{\"'|:-*_", before) || before == rune(text[i]) {
		return false
	}
	return wordy(behind) || strings.ContainsRune("([{\"'`@#<*_", behind) && behind != rune(text[i]) && i+1 < len(text)
}

// closes reports whether the mark at i may end emphasis: no space before it, no word after it.
func closes(text []byte, i int) bool {
	if i == 0 {
		return false
	}
	before, _ := utf8.DecodeLastRune(text[:i])
	behind, _ := utf8.DecodeRune(text[i+1:])
	if unicode.IsSpace(before) || strings.ContainsRune("([{/", before) || before == rune(text[i]) {
		return false
	}
	return i+1 == len(text) || !wordy(behind) && behind != rune(text[i]) && !strings.ContainsRune("(/[=", behind)
}

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
