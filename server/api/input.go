package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/clean"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
)

// Limits on reported errors: a response must not be larger than its request.
const (
	maxReported  = 20  // fields
	maxFieldName = 100 // bytes of a name that the client made up
)

// maxElements bounds a list.
const maxElements = 50

// checked is a request with rules that its tags cannot express, for fields that are valid.
type checked interface {
	check(report)
}

// report notes what is wrong with a field, if something is.
type report func(bad bool, field, format string, args ...any)

// input is a request that is being read, with what is wrong with it. All of it is reported
// together, by name. A field is required unless it is a pointer or has a default; null counts as
// absent, as does a blank text of an optional field: forms send empty fields.
type input struct {
	into   any
	target reflect.Value
	fields []fault.Field
}

func newInput(into any) *input {
	in := &input{into: into, target: reflect.ValueOf(into).Elem()}
	for _, field := range fieldsOf(in.target.Type(), inputName) {
		setDefault(in.target.FieldByIndex(field.Index), field.Tag)
	}
	return in
}

func (in *input) wrong(bad bool, field, format string, args ...any) {
	if bad && len(in.fields) < maxReported {
		in.fields = append(in.fields, fault.Field{Name: clean.ClipBytes(field, maxFieldName), Message: fmt.Sprintf(format, args...)})
	}
}

func (in *input) err() error {
	if len(in.fields) > 0 {
		return fault.InvalidFields(in.fields...)
	}
	return nil
}

// readRequest reads the parameters and the body of a request into a struct, as its tags say.
func readRequest(c *fiber.Ctx, into any) error {
	in := newInput(into)
	in.readParameters(c)
	if fields := bodyFields(in.target.Type()); len(fields) > 0 {
		body, err := readObject(c, !slices.ContainsFunc(fields, isRequired))
		if err != nil {
			return err
		}
		if body != nil {
			return in.readMembers(body, fields)
		}
	}
	return in.err()
}

// readArguments reads an object whose members are parameters and members of the body of a request.
func readArguments(object []byte, into any) error {
	in := newInput(into)
	return in.readMembers(object, fieldsOf(in.target.Type(), inputName))
}

// readParameters reads the fields that are parameters of the path or the query.
func (in *input) readParameters(c *fiber.Ctx) {
	var known []string
	for _, field := range reflect.VisibleFields(in.target.Type()) {
		if name := field.Tag.Get("path"); name != "" {
			text, err := url.PathUnescape(c.Params(name))
			in.wrong(err != nil, name, "must be percent-encoded")
			in.readParameter(name, field, text)
		} else if name = field.Tag.Get("query"); name != "" {
			known = append(known, name)
			in.wrong(len(c.Context().QueryArgs().PeekMulti(name)) > 1, name, "must be given once")
			text := strings.TrimSpace(string(c.Context().QueryArgs().Peek(name)))
			in.wrong(text == "" && isRequired(field), name, "is required")
			if text != "" {
				in.readParameter(name, field, text)
			}
		}
	}
	in.onlyParameters(c, known...)
}

func (in *input) readParameter(name string, field reflect.StructField, text string) {
	value, before := []byte(text), len(in.fields)
	in.wrong(!utf8.ValidString(text), name, "must be valid UTF-8")
	in.wrong(strings.ContainsRune(text, 0), name, "must not contain U+0000")
	switch {
	case kindOf(field) == reflect.String:
		value, _ = json.Marshal(text) // a text has no error
	case field.Type == filtersType:
		if member, problem := checkObject(value); member != "" {
			in.wrong(true, name+"."+member, "%s", problem)
		} else if problem != "" {
			in.wrong(true, name, "must be a JSON object: %s", problem)
		}
	case text == "null" || text != strings.TrimSpace(text):
		in.wrong(true, name, "%s", typeOf(field))
	}
	if len(in.fields) == before {
		in.readValue(name, field, value)
	}
}

// onlyParameters refuses query parameters but these.
func (in *input) onlyParameters(c *fiber.Ctx, known ...string) {
	for key := range c.Context().QueryArgs().All() {
		in.wrong(!slices.Contains(known, string(key)), string(key), "is not a parameter of this request")
	}
}

// readMembers reads the members of an object that checkObject found valid, or that is ours.
func (in *input) readMembers(object []byte, fields []reflect.StructField) error {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(object))
	_, err := decoder.ReadToken() // the brace
	given := map[string]bool{}
	for err == nil && decoder.PeekKind() != '}' {
		var value jsontext.Value
		if _, err = decoder.ReadToken(); err == nil {
			value, err = decoder.ReadValue()
		}
		name := decoder.StackPointer().LastToken()
		at := slices.IndexFunc(fields, func(field reflect.StructField) bool { return inputName(field) == name })
		in.wrong(at < 0, name, "is not a field of this request")
		if at >= 0 && value.Kind() != 'n' {
			given[name] = true
			in.readValue(name, fields[at], value)
		}
	}
	if err != nil {
		return fmt.Errorf("read the members of a request: %w", err)
	}
	for _, field := range fields {
		in.wrong(isRequired(field) && !given[inputName(field)], inputName(field), "is required")
	}
	if more, is := in.into.(checked); is && len(in.fields) == 0 {
		more.check(in.wrong)
	}
	return in.err()
}

// readValue decodes one field from JSON and checks it.
func (in *input) readValue(name string, field reflect.StructField, value []byte) {
	if in.decode(name, field, value) {
		checkTags(in.wrong, name, reflect.Indirect(in.target.FieldByIndex(field.Index)), field.Tag)
	}
}

// decode decodes one field from JSON. It returns false if there is no value to check.
func (in *input) decode(name string, field reflect.StructField, text []byte) bool {
	value := in.target.FieldByIndex(field.Index)
	if into, is := value.Addr().Interface().(*filter.Filters); is {
		filters, err := filter.Read(text) // the database validates the members
		in.wrong(err != nil, name, "%v", err)
		*into = filters
		return false
	}
	if value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct {
		return in.decodeObjects(name, field, text)
	}
	if value.Kind() == reflect.Pointer && value.Type().Elem().Kind() == reflect.Struct && jsontext.Value(text).Kind() == '{' {
		value.Set(reflect.New(value.Type().Elem()))
		in.decodeMembers(name, value.Interface(), text)
		return true
	}
	if json.Unmarshal(text, value.Addr().Interface()) != nil {
		in.wrong(true, name, "%s", typeOf(field))
		return false
	}
	content := reflect.Indirect(value)
	if content.Kind() == reflect.String && !isRequired(field) {
		if content.SetString(strings.TrimSpace(content.String())); content.Len() == 0 {
			setDefault(value, field.Tag)
			return false
		}
	}
	isLong := content.Kind() == reflect.Slice && content.Len() > maxElements
	in.wrong(isLong, name, "must have at most %d elements", maxElements)
	return !isLong
}

// decodeObjects decodes a list of objects, each of which is read like a request.
func (in *input) decodeObjects(name string, field reflect.StructField, text []byte) bool {
	var objects []jsontext.Value
	if json.Unmarshal(text, &objects) != nil || slices.ContainsFunc(objects, func(object jsontext.Value) bool { return object.Kind() != '{' }) {
		in.wrong(true, name, "%s", typeOf(field))
		return false
	}
	list := reflect.MakeSlice(field.Type, len(objects), len(objects))
	in.target.FieldByIndex(field.Index).Set(list)
	for i := range min(len(objects), maxElements) {
		in.decodeMembers(fmt.Sprintf("%s[%d]", name, i), list.Index(i).Addr().Interface(), objects[i])
	}
	return true
}

// decodeMembers decodes an object that is read like a request.
func (in *input) decodeMembers(name string, into any, object []byte) {
	part := newInput(into)
	_ = part.readMembers(object, bodyFields(part.target.Type())) // all of it is in fields
	for _, wrong := range part.fields {
		in.wrong(true, name+"."+wrong.Name, "%s", wrong.Message)
	}
}
