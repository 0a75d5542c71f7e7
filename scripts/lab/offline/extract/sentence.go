package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence is a part of a source that can be quoted.
type sentence struct {
	text string // on one line, without a list marker
	code bool   // from a block of code or a log
}

// maxSentences limits the sentences of one source.
const maxSentences = 300

var (
	listMarker = regexp.MustCompile(`^(?:[-*•+–]|\d{1,3}[.)]|#{1,6}|>+)\s+`)
	stackLine  = regexp.MustCompile(`^(?:at\s+[\w$.<>]+\(|File ".*", line \d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\$ |>>> )`)
)

// splitSentences splits a text at the ends of paragraphs, list items and lines, and within them
// after a full stop or similar. Wrapped lines are joined again.
func splitSentences(text string) []sentence {
	var list []sentence
	paragraph := ""
	flush := func() {
		for _, s := range splitParagraph(paragraph) {
			list = append(list, sentence{text: s})
		}
		paragraph = ""
	}
	fenced := false
	for line := range strings.Lines(text) {
		if len(list) >= maxSentences {
			return list[:maxSentences]
		}
		raw, trimmed := line, strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			flush()
			fenced = !fenced
		case trimmed == "":
			flush()
		case fenced || isIndented(raw) || stackLine.MatchString(trimmed):
			flush()
			list = append(list, sentence{text: trimmed, code: true})
		case paragraph != "" && wraps(paragraph, trimmed):
			paragraph += " " + trimmed
		default:
			flush()
			paragraph = listMarker.ReplaceAllString(trimmed, "")
		}
	}
	flush()
	return list[:min(len(list), maxSentences)]
}

func isIndented(line string) bool {
	rest := strings.TrimLeft(line, " ")
	return (strings.HasPrefix(line, "\t") || len(line)-len(rest) >= 4) && !listMarker.MatchString(strings.TrimSpace(line))
}

// wraps reports whether next continues the sentence at the end of paragraph.
func wraps(paragraph, next string) bool {
	const wrapped, longest = 50, 4000
	if len(paragraph) < wrapped || len(paragraph) > longest || listMarker.MatchString(next) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(paragraph)
	return !strings.ContainsRune(".!?:…。！？", last)
}

// abbreviations end in a full stop that does not end a sentence.
var abbreviations = map[string]bool{
	"e.g": true, "i.e": true, "etc": true, "vs": true, "dr": true, "mr": true, "mrs": true, "ms": true, "st": true,
	"no": true, "nr": true, "fig": true, "approx": true, "ca": true, "cf": true, "incl": true, "resp": true, "min": true, "max": true,
}

func splitParagraph(text string) []string {
	var list []string
	start := 0
	cut := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			list = append(list, s)
		}
		start = end
	}
	for i, r := range text {
		after := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？', '｡':
			cut(after)
		case '.', '!', '?', '…':
			if i >= start && endsSentence(text[start:i], r, text[after:]) {
				for after < len(text) && strings.IndexByte(`"')]`, text[after]) >= 0 {
					after++
				}
				cut(after)
			}
		}
	}
	cut(len(text))
	return list
}

// endsSentence reports whether the mark between before and after ends a sentence.
func endsSentence(before string, mark rune, after string) bool {
	after = strings.TrimLeft(clip(after, 16), `"')]`)
	if after == "" {
		return true
	}
	if after[0] != ' ' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, ` "'([*_`))
	if unicode.IsLower(next) {
		return false
	}
	if mark != '.' {
		return true
	}
	last := before[strings.LastIndexAny(before, " (")+1:]
	return !abbreviations[strings.ToLower(last)]
}
