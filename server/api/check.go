package api

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The limits of requests, as the OpenAPI document states them.
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

// checkText trims a query or question and bounds it. What looks the same is asked the same: in
// Unicode's composed form (NFC), with one space for any white space.
func checkText(wrong report, name string, text *string) {
	checkLength(wrong, name, text, maxQueryCharacters)
	*text = strings.Join(strings.Fields(norm.NFC.String(*text)), " ")
}

// isVisible is false for space, control and format characters, for what Unicode has renderers
// ignore, and for the blank Braille pattern. An emoji is visible.
func isVisible(r rune) bool {
	return r != '\u2800' &&
		!unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// checkLength trims a text and bounds it. Invisible characters alone are refused as an empty text
// is.
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

// or gives the value of an optional field, or its default.
func or[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}
