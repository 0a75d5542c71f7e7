package clean

import (
	"strings"
	"unicode/utf8"
)

// Clip returns the first characters of a text.
func Clip(text string, characters int) string {
	if utf8.RuneCountInString(text) > characters {
		return string([]rune(text)[:characters])
	}
	return text
}

// ClipBytes returns the first bytes of a text, without a part of a character.
func ClipBytes(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// Excerpt returns the beginning of a text for people: a longer one ends with "…", after a word if
// one ends near.
func Excerpt(text string, characters int) string {
	beginning := Clip(text, characters-1)
	if len(text) == len(beginning) || utf8.RuneCountInString(text) == characters {
		return text
	}
	if space := strings.LastIndexAny(beginning, " \n"); space > len(beginning)*3/4 {
		beginning = beginning[:space]
	}
	return strings.TrimSpace(beginning) + "…"
}
