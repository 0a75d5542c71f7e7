package api

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/filter"
)

// readRequest reads the parameters and the body of a request into a struct, as its tags say, and
// reports all that is wrong.
func readRequest(c *fiber.Ctx, into any) error {
	target := reflect.ValueOf(into).Elem()
	p := parameters{c: c}
	for _, field := range reflect.VisibleFields(target.Type()) {
		p.read(field, target.FieldByIndex(field.Index))
	}
	if err := p.err(); err != nil {
		return err
	}
	if len(bodyFields(target.Type())) == 0 {
		return nil
	}
	return decode(c, into)
}

// read reads a field that is a parameter of the path or the query.
func (p *parameters) read(field reflect.StructField, value reflect.Value) {
	tags := field.Tag
	if name := tags.Get("path"); name != "" {
		switch {
		case value.Kind() == reflect.Int64:
			value.SetInt(p.pathID(name))
		case tags.Get("format") == "uuid":
			value.SetString(p.pathUUID(name))
		default:
			value.SetString(p.pathText(name))
			checkTags(p.wrong, name, value, tags)
		}
		return
	}
	name := tags.Get("query")
	if name == "" {
		return
	}
	if into, is := value.Addr().Interface().(*filter.Filters); is {
		*into = p.filters(name)
		return
	}
	text, given := p.value(name)
	if !given {
		text = tags.Get("default")
	}
	switch value.Kind() {
	case reflect.Int, reflect.Int64:
		number, err := strconv.ParseInt(text, 10, 64)
		if value.SetInt(number); given && err != nil {
			p.wrong(true, name, "%s", rangeOf(tags))
		} else if given {
			checkTags(p.wrong, name, value, tags)
		}
	case reflect.Float64:
		number, err := strconv.ParseFloat(text, 64)
		// strconv also accepts forms that JSON has not, such as 0x1p-2.
		if value.SetFloat(number); given && (err != nil || strings.ContainsAny(text, "xXpP_")) {
			p.wrong(true, name, "%s", rangeOf(tags))
		} else {
			checkTags(p.wrong, name, value, tags)
		}
	case reflect.Bool:
		p.wrong(given && text != "true" && text != "false", name, "must be true or false")
		value.SetBool(text == "true")
	case reflect.Pointer:
		if given {
			p.storable(name, text)
			value.Set(reflect.ValueOf(&text))
			checkTags(p.wrong, name, value, tags)
		}
	default:
		p.storable(name, text)
		value.SetString(text)
		checkTags(p.wrong, name, value, tags)
	}
}

// checkFields validates the fields of a body.
func checkFields(wrong report, into any) {
	value := reflect.ValueOf(into).Elem()
	for _, field := range bodyFields(value.Type()) {
		checkTags(wrong, nameOf(field), value.FieldByIndex(field.Index), field.Tag)
	}
}

// checkTags validates a value, by the tags that the document is generated from. It trims texts
// whose length is limited.
func checkTags(wrong report, name string, value reflect.Value, tags reflect.StructTag) {
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return
		}
		value = value.Elem()
	}
	switch value.Kind() {
	case reflect.String:
		text := value.Addr().Convert(reflect.TypeFor[*string]()).Interface().(*string)
		if fallback, optional := tags.Lookup("default"); optional && *text == fallback {
			return
		}
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
		wrong(tags.Get("format") == "uuid" && !isUUID(*text), name, "must be a UUID")
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
