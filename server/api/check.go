package api

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normal is the one form of texts that look the same: composed Unicode (NFC) and single spaces.
func normal(text string) string { return strings.Join(strings.Fields(norm.NFC.String(text)), " ") }

// isVisible is false for space, control and format characters, for those that Unicode tells
// renderers to ignore, and for the blank Braille pattern. It is true for emoji.
func isVisible(r rune) bool {
	return r != '\u2800' &&
		!unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// checkLength trims a text and checks its length. A text of invisible characters counts as empty.
func checkLength(wrong report, name string, text *string, most int) {
	*text = strings.TrimSpace(*text)
	wrong(*text != "" && !strings.ContainsFunc(*text, isVisible), name, "must have a visible character")
	length := utf8.RuneCountInString(*text)
	wrong(length < 1 || length > most, name, "must have 1 to %d characters", most)
}

// or returns the value of an optional field, or its default.
func or[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}
