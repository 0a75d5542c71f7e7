package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/tidwall/gjson"

	"tasklens/internal/fault"
	"tasklens/internal/filter"
)

// Limits on reported errors: a response must not be larger than its request.
const (
	maxReported  = 20  // fields
	maxFieldName = 100 // bytes of a name that the client made up
)

// Limits on what is decoded, whatever the request's size.
const (
	maxElements   = 50   // of a list
	maxValues     = 2000 // of a body, elements and members
	maxDepth      = 32   // of lists and objects in a body
	maxParameters = 20   // of a query
)

func clip(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxFieldName)], "") }

// checked is a request with rules that its tags cannot express, for fields that are valid.
type checked interface {
	check(report)
}

// report records an invalid field.
type report func(bad bool, field, format string, args ...any)

// decode reads the single JSON object of a body, strictly: unknown, duplicate and missing fields,
// wrong types and values out of range are reported together by name. A field is required unless
// it is a pointer or has a default; null counts as absent.
func decode(c *fiber.Ctx, into any) error {
	target := reflect.ValueOf(into).Elem()
	fieldsOf := bodyFields(target.Type())
	known := map[string]reflect.Value{}
	tags := map[string]reflect.StructTag{}
	for _, field := range fieldsOf {
		known[nameOf(field)], tags[nameOf(field)] = target.FieldByIndex(field.Index), field.Tag
		setDefault(target.FieldByIndex(field.Index), field.Tag.Get("default"))
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	if len(body) == 0 && !slices.ContainsFunc(fieldsOf, isRequired) {
		return nil
	}
	if err := checkObject(c, body); err != nil {
		return err
	}
	var fields []fault.Field
	wrong := func(bad bool, field, format string, args ...any) {
		if bad && len(fields) < maxReported {
			fields = append(fields, fault.Field{Name: clip(field), Message: fmt.Sprintf(format, args...)})
		}
	}
	given, seen := map[string]bool{}, map[string]bool{} // seen: given and not null
	// Stop at the last error that would be reported: the members of a body are not collected.
	gjson.ParseBytes(body).ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		field, is := known[name]
		switch {
		case !is:
			wrong(true, name, "is not a field of this request")
		case given[name]:
			wrong(true, name, "is given twice")
			seen[name] = true
		case value.Type == gjson.Null:
			given[name] = true // and as if it were absent
		default:
			given[name], seen[name] = true, true
			decodeValue(wrong, name, field, tags[name], value)
		}
		return len(fields) < maxReported
	})
	for _, field := range fieldsOf {
		wrong(isRequired(field) && !seen[nameOf(field)], nameOf(field), "is required")
	}
	if len(fields) == 0 {
		checkFields(wrong, into)
	}
	if more, is := into.(checked); is && len(fields) == 0 {
		more.check(wrong)
	}
	if len(fields) > 0 {
		return fault.InvalidFields(fields...)
	}
	return nil
}

// isRequired reports whether a request must have a field. If it need not have any, its body may be
// empty.
func isRequired(field reflect.StructField) bool {
	_, hasDefault := field.Tag.Lookup("default")
	return !hasDefault && field.Type.Kind() != reflect.Pointer
}

// setDefault sets a field to the text of its tag.
func setDefault(field reflect.Value, text string) {
	switch {
	case text == "":
	case field.Kind() == reflect.String:
		field.SetString(text)
	default:
		if err := json.Unmarshal([]byte(text), field.Addr().Interface()); err != nil {
			panic("not a value in a tag: " + text)
		}
	}
}

// decodeValue decodes one field. It reports a list that is too long instead of decoding it. It
// trims optional texts and treats blank ones as absent.
func decodeValue(wrong report, name string, field reflect.Value, tags reflect.StructTag, value gjson.Result) {
	wrong(hasLoneSurrogate(value.Raw), name, "must not contain half of a surrogate pair")
	if filters, is := field.Addr().Interface().(*filter.Filters); is {
		*filters = filtersOf(wrong, name, []byte(value.Raw))
		return
	}
	elements := 0
	if value.IsArray() {
		value.ForEach(func(_, _ gjson.Result) bool {
			elements++
			return elements <= maxElements
		})
	}
	if elements > maxElements && isList(field) {
		wrong(true, name, "must have at most %d elements", maxElements)
		return
	}
	err := json.Unmarshal([]byte(value.Raw), field.Addr().Interface())
	wrong(err != nil, name, "must be %s", typeName(field.Type()))
	wrong(err == nil && strings.Contains(value.Raw, `\u0000`) && hasNUL(field), name, "must not contain U+0000")
	fallback, isOptional := tags.Lookup("default")
	if text, is := field.Interface().(*string); is && text != nil {
		if *text = strings.TrimSpace(*text); *text == "" {
			field.SetZero()
		}
	} else if isOptional && field.Kind() == reflect.String {
		field.SetString(cmp.Or(strings.TrimSpace(field.String()), fallback))
	}
}

func isList(field reflect.Value) bool {
	return field.Kind() == reflect.Slice || field.Kind() == reflect.Pointer && field.Type().Elem().Kind() == reflect.Slice
}

func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of strings"
	case reflect.Int, reflect.Int64:
		return "an integer"
	default:
		return "a number"
	}
}

// hasNUL reports whether a string, or one in a list, contains NUL, which Postgres cannot store.
func hasNUL(field reflect.Value) bool {
	if field.Kind() == reflect.Pointer {
		field = field.Elem()
	}
	if field.Kind() == reflect.Slice {
		for i := range field.Len() {
			if hasNUL(field.Index(i)) {
				return true
			}
		}
	}
	return field.Kind() == reflect.String && strings.ContainsRune(field.String(), 0)
}

// hasLoneSurrogate reports whether JSON escapes half of a UTF-16 pair, as \ud83d alone does. It is
// no text: decoding would replace it in silence.
func hasLoneSurrogate(raw string) bool {
	unit := func(i int) rune { // escaped at i
		if !strings.HasPrefix(raw[i:], `\u`) {
			return 0
		}
		value, _ := strconv.ParseUint(raw[i+2:i+6], 16, 16) // valid JSON has four digits there
		return rune(value)
	}
	for i := strings.IndexByte(raw, '\\'); i >= 0 && i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if first := unit(i); utf16.IsSurrogate(first) {
			if utf16.DecodeRune(first, unit(i+6)) == utf8.RuneError {
				return true
			}
			i += 6
		}
		i++ // whatever is escaped, a backslash too
	}
	return false
}

// fewParameters rejects a query string with too many parameters before parsing it.
func fewParameters(c *fiber.Ctx) error {
	if bytes.Count(c.Request().URI().QueryString(), []byte("&")) >= maxParameters {
		return fault.New(fault.Invalid, fmt.Sprintf("A request has at most %d query parameters.", maxParameters))
	}
	return c.Next()
}

// noParameters rejects unknown query parameters.
func noParameters(c *fiber.Ctx, known ...string) error {
	var fields []fault.Field
	for key := range c.Context().QueryArgs().All() {
		if !slices.Contains(known, string(key)) && len(fields) < maxReported {
			fields = append(fields, fault.Field{Name: clip(string(key)), Message: "is not a parameter of this request"})
		}
	}
	if len(fields) > 0 {
		return fault.InvalidFields(fields...)
	}
	return nil
}
