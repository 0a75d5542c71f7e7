package markup

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline returns a line without the markup within it. A first pass copies the line and replaces
// what is bracketed; it notes where a bare * or _ stands, of which a second pass removes those that
// come in pairs around words.
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

// bracketed reads what starts at i and is replaced or kept as a whole: an address, a link, a user,
// an image, monospaced text, an escaped character. size is 0 where nothing of the kind starts
// there. It looks no further than the next bracket of its kind, so that a line of brackets takes no
// longer than another.
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

// link reads the inside of brackets: a user, an address, or a text with one.
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
	address, _, _ = strings.Cut(address, "|") // what follows says how a link is shown
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

// isFile tells whether an exclamation mark encloses an embedded file, and not the end of a sentence
// or of a condition.
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

// withoutEmphasis removes the pairs of * and of _ that stand around words. A pair with another mark
// of the same kind inside, as in _private_var, stays.
func withoutEmphasis(text []byte, marks []int) string {
	if len(marks) < 2 {
		return string(text)
	}
	drop := map[int]bool{}
	for _, kind := range []byte("*_") {
		open := -1 // a mark that may begin emphasis, which the next of its kind must end
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

// opens tells whether the mark at i may begin emphasis: a space or an opening character before, a
// word behind.
func opens(text []byte, i int) bool {
	before, _ := utf8.DecodeLastRune(text[:i])
	behind, _ := utf8.DecodeRune(text[i+1:])
	if i > 0 && !unicode.IsSpace(before) && !strings.ContainsRune("([{\"'|:-*_", before) || before == rune(text[i]) {
		return false
	}
	return wordy(behind) || strings.ContainsRune("([{\"'`@#<*_", behind) && behind != rune(text[i]) && i+1 < len(text)
}

// closes tells whether the mark at i may end emphasis: no space before, no word behind.
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
