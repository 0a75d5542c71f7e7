package api

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The limits of requests, as in openapi.yaml.
const (
	maxQueryCharacters  = 2000
	maxStatusCharacters = 200
	maxLimit            = 100
	maxReach            = 1000 // offset and limit together
	maxTopK             = 20
)

func checkID(wrong report, name string, id *int64) {
	wrong(id != nil && *id < 1, name, "must be a positive integer")
}

func checkUnit(wrong report, name string, value *float64) {
	wrong(value != nil && !(*value >= 0 && *value <= 1), name, "must be a number from 0 to 1")
}

// checkText trims a query or question, checks its length and normalises it, so that texts which
// look the same are the same: composed Unicode (NFC) and single spaces.
func checkText(wrong report, name string, text *string) {
	checkLength(wrong, name, text, maxQueryCharacters)
	*text = normal(*text)
}

// normal is the one form of texts that look the same.
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

func checkStatus(wrong report, status *string) {
	wrong(status != nil && utf8.RuneCountInString(*status) > maxStatusCharacters, "status_filter", "must have at most %d characters", maxStatusCharacters)
}

func checkRange(wrong report, name string, value *int, low, high int) {
	wrong(value != nil && (*value < low || *value > high), name, "must be an integer from %d to %d", low, high)
}

// or returns the value of an optional field, or its default.
func or[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}
