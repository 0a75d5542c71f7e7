package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
)

// Bounds of what is told about a bad request: an answer shall not be larger than what it answers.
const (
	maxReported  = 20  // fields
	maxFieldName = 100 // bytes of a name that the client made up
)

func clip(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxFieldName)], "") }

// request is the body of a request: it says what is wrong with its values.
type request interface {
	check(report)
}

// report takes a field at fault, when it is.
type report func(bad bool, field, format string, args ...any)

// decode reads the one JSON object of a body, strictly: unknown, doubled and missing fields, wrong types and values out
// of range are all reported together, each by its name. A field is required unless it is a pointer; null is as absent.
func decode(c *fiber.Ctx, into request) error {
	if err := noParameters(c); err != nil {
		return err
	}
	mediaType, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";")
	if !strings.EqualFold(strings.TrimSpace(mediaType), fiber.MIMEApplicationJSON) {
		return fiber.ErrUnsupportedMediaType
	}
	// A compressed body could be any size once it is not.
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return fiber.ErrUnsupportedMediaType
	}
	body := c.BodyRaw()
	if !utf8.Valid(body) {
		return fault.New(fault.Invalid, "The request body is not valid UTF-8.")
	}
	members, err := object(body)
	if err != nil {
		return fault.Wrap(fault.Invalid, "The request body must be one JSON object: "+err.Error()+".", err)
	}
	var fields []fault.Field
	wrong := func(bad bool, field, format string, args ...any) {
		if bad && len(fields) < maxReported {
			fields = append(fields, fault.Field{Name: clip(field), Message: fmt.Sprintf(format, args...)})
		}
	}
	target := reflect.ValueOf(into).Elem()
	known := map[string]reflect.Value{}
	for i := range target.NumField() {
		known[target.Type().Field(i).Tag.Get("json")] = target.Field(i)
	}
	given, seen := map[string]bool{}, map[string]bool{} // seen: given and not null
	for _, m := range members {
		field, is := known[m.name]
		switch {
		case !is:
			wrong(true, m.name, "is not a field of this request")
		case given[m.name]:
			wrong(true, m.name, "is given twice")
			seen[m.name] = true
		case string(m.value) == "null":
			given[m.name] = true // and as if it were absent
		default:
			given[m.name], seen[m.name] = true, true
			err := json.Unmarshal(m.value, field.Addr().Interface())
			wrong(err != nil, m.name, "must be %s", typeName(field.Type()))
			wrong(err == nil && bytes.Contains(m.value, []byte(`\u0000`)) && hasNUL(field), m.name, "must not contain U+0000")
		}
	}
	for i := range target.NumField() {
		name := target.Type().Field(i).Tag.Get("json")
		wrong(target.Field(i).Kind() != reflect.Pointer && !seen[name], name, "is required")
	}
	if len(fields) == 0 {
		into.check(wrong)
	}
	if len(fields) > 0 {
		return fault.InvalidFields(fields...)
	}
	return nil
}

type member struct {
	name  string
	value json.RawMessage
}

// object splits a JSON object into its members, in order.
func object(body []byte) ([]member, error) {
	if !json.Valid(body) {
		var syntax *json.SyntaxError
		var any json.RawMessage
		if err := json.Unmarshal(body, &any); errors.As(err, &syntax) {
			return nil, fmt.Errorf("at byte %d, %w", syntax.Offset, err)
		}
		return nil, errors.New("it is not JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("it is of another type")
	}
	var members []member
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		members = append(members, member{name: name.(string), value: value})
	}
	if _, err := decoder.Token(); err != nil && err != io.EOF {
		return nil, err
	}
	return members, nil
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

// hasNUL tells whether a string, or one of a list, holds the one character that Postgres cannot.
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

// noParameters refuses query parameters that a route does not know.
func noParameters(c *fiber.Ctx, known ...string) error {
	var fields []fault.Field
	c.Context().QueryArgs().VisitAll(func(key, _ []byte) {
		if !slices.Contains(known, string(key)) && len(fields) < maxReported {
			fields = append(fields, fault.Field{Name: clip(string(key)), Message: "is not a parameter of this request"})
		}
	})
	if len(fields) > 0 {
		return fault.InvalidFields(fields...)
	}
	return nil
}
