package api

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"tasklens/internal/clean"
)

// checkTags validates a value, by the tags that the document is generated from. It trims texts
// whose length is limited.
func checkTags(wrong report, name string, value reflect.Value, tags reflect.StructTag) {
	switch value.Kind() {
	case reflect.String:
		text := value.Addr().Convert(reflect.TypeFor[*string]()).Interface().(*string)
		if most, has := tags.Lookup("length"); has {
			checkLength(wrong, name, text, number(most))
		}
		if most, has := tags.Lookup("maxlen"); has {
			*text = strings.TrimSpace(*text)
			wrong(utf8.RuneCountInString(*text) > number(most), name, "must have at most %s characters", most)
		}
		if values := strings.Split(tags.Get("enum"), ","); tags.Get("enum") != "" {
			wrong(!slices.Contains(values, *text), name, "must be %s", anyOf(values))
		}
		if tags.Get("format") == "uuid" { // in the canonical form, without braces or as a URN
			wrong(len(*text) != 36 || uuid.Validate(*text) != nil, name, "must be a UUID")
			*text = strings.ToLower(*text)
		}
	case reflect.Slice:
		least, most := tags.Get("min"), tags.Get("max")
		wrong(least != "" && value.Len() < number(least) || most != "" && value.Len() > number(most), name, "must be a list of %s to %s elements", least, most)
		for i := range value.Len() {
			checkTags(wrong, name, value.Index(i), elementTags(tags))
		}
	case reflect.Int, reflect.Int64:
		checkNumber(wrong, name, float64(value.Int()), tags)
	case reflect.Float64:
		checkNumber(wrong, name, value.Float(), tags)
	}
}

// anyOf lists values, as in "rrf" or "convex".
func anyOf(values []string) string {
	last := len(values) - 1
	return strings.TrimPrefix(`"`+strings.Join(values[:last], `", "`)+`" or "`+values[last]+`"`, `"" or `)
}

func checkNumber(wrong report, name string, value float64, tags reflect.StructTag) {
	low, hasLow := tags.Lookup("min")
	high, hasHigh := tags.Lookup("max")
	wrong(hasLow && !(value >= float64(number(low))) || hasHigh && !(value <= float64(number(high))), name, "%s", rangeOf(tags))
}

// rangeOf says what a number must be.
func rangeOf(tags reflect.StructTag) string {
	low, high, kind := tags.Get("min"), tags.Get("max"), "an integer"
	if high == "1" {
		kind = "a number"
	}
	switch {
	case high != "":
		return "must be " + kind + " from " + low + " to " + high
	case low == "0":
		return "must not be negative"
	default:
		return "must be a positive integer"
	}
}

// number is that of a tag, which a test reads as part of the document.
func number(tag string) int {
	value, err := strconv.Atoi(tag)
	if err != nil {
		panic("not an integer in a tag: " + tag)
	}
	return value
}

// checkLength trims a text and checks its length.
func checkLength(wrong report, name string, text *string, most int) {
	*text = strings.TrimSpace(*text)
	wrong(isHidden(*text), name, "must have a visible character")
	length := utf8.RuneCountInString(*text)
	wrong(length < 1 || length > most, name, "must have 1 to %d characters", most)
}

// isHidden reports whether a text that is not empty has invisible characters and spaces alone.
func isHidden(text string) bool { return text != "" && strings.TrimSpace(clean.Printable(text)) == "" }
