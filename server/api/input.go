package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
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

// checked is a request with rules that its tags cannot express, for fields that are valid.
type checked interface {
	check(report)
}

// report records an invalid field.
type report func(bad bool, field, format string, args ...any)

// input is a request that is being decoded, with what is wrong with it. All of it is reported
// together, by name. A field is required unless it is a pointer or has a default; null counts as
// absent.
type input struct {
	into   any
	target reflect.Value
	fields []fault.Field
}

func newInput(into any) *input {
	in := &input{into: into, target: reflect.ValueOf(into).Elem()}
	for _, field := range reflect.VisibleFields(in.target.Type()) {
		setDefault(in.target.FieldByIndex(field.Index), field.Tag.Get("default"))
	}
	return in
}

func (in *input) wrong(bad bool, field, format string, args ...any) {
	if bad && len(in.fields) < maxReported {
		in.fields = append(in.fields, fault.Field{Name: clip(field), Message: fmt.Sprintf(format, args...)})
	}
}

func clip(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxFieldName)], "") }

func (in *input) err() error {
	if len(in.fields) > 0 {
		return fault.InvalidFields(in.fields...)
	}
	return nil
}

// readRequest reads the parameters and the body of a request into a struct, as its tags say.
func readRequest(c *fiber.Ctx, into any) error {
	in := newInput(into)
	if err := in.readParameters(c); err != nil {
		return err
	}
	return in.readBody(c)
}

func (in *input) readBody(c *fiber.Ctx) error {
	fields := bodyFields(in.target.Type())
	if len(fields) == 0 {
		return nil
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	if len(body) == 0 && !slices.ContainsFunc(fields, isRequired) {
		return nil
	}
	if err := checkObject(c, body); err != nil {
		return err
	}
	return in.readMembers(body, fields)
}

// readArguments reads an object whose members are parameters and members of the body of a request.
func readArguments(object []byte, into any) error {
	in := newInput(into)
	var fields []reflect.StructField
	for _, field := range reflect.VisibleFields(in.target.Type()) {
		if inputName(field) != "" {
			fields = append(fields, field)
		}
	}
	return in.readMembers(object, fields)
}

// inputName is a field's name in a request, or "" if requests do not have it.
func inputName(field reflect.StructField) string {
	return cmp.Or(nameOf(field), field.Tag.Get("path"), field.Tag.Get("query"))
}

// readParameters reads the fields that are parameters of the path or the query.
func (in *input) readParameters(c *fiber.Ctx) error {
	var known []string
	for _, field := range reflect.VisibleFields(in.target.Type()) {
		name, text, given := field.Tag.Get("path"), "", true
		if name != "" {
			var err error
			text, err = url.PathUnescape(c.Params(name))
			in.wrong(err != nil, name, "must be percent-encoded")
		} else if name = field.Tag.Get("query"); name == "" {
			continue
		} else {
			known = append(known, name)
			// A blank one counts as absent, because forms send empty fields.
			text = strings.TrimSpace(string(c.Context().QueryArgs().Peek(name)))
			given = text != ""
			in.wrong(len(c.Context().QueryArgs().PeekMulti(name)) > 1, name, "must be given once")
		}
		before := len(in.fields)
		in.wrong(!utf8.ValidString(text), name, "must be valid UTF-8")
		if given && before == len(in.fields) {
			in.decode(name, field, asJSON(text, field.Type))
		}
		if before == len(in.fields) && (given || isRequired(field)) {
			checkTags(in.wrong, name, in.target.FieldByIndex(field.Index), field.Tag)
		}
	}
	if err := noParameters(c, known...); err != nil {
		return err
	}
	return in.err()
}

// asJSON is the text of a parameter as JSON, which is not valid if the text is of no such type.
func asJSON(text string, t reflect.Type) []byte {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.String && (text == "null" || text != strings.TrimSpace(text)) {
		return nil
	}
	if t.Kind() != reflect.String {
		return []byte(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // of a text
	}
	return quoted
}

// readMembers reads the members of a valid JSON object, strictly.
func (in *input) readMembers(object []byte, fields []reflect.StructField) error {
	given, seen := map[string]bool{}, []reflect.StructField{} // seen: given and not null
	// Stop at the last error that would be reported: the members of a body are not collected.
	gjson.ParseBytes(object).ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		at := slices.IndexFunc(fields, func(field reflect.StructField) bool { return inputName(field) == name })
		switch {
		case at < 0:
			in.wrong(true, name, "is not a field of this request")
		case given[name]:
			in.wrong(true, name, "is given twice")
			seen = append(seen, fields[at])
		case value.Type != gjson.Null:
			seen = append(seen, fields[at])
			in.decode(name, fields[at], []byte(value.Raw))
		}
		if at >= 0 {
			given[name] = true
		}
		return len(in.fields) < maxReported
	})
	for _, field := range fields {
		isSeen := slices.ContainsFunc(seen, func(f reflect.StructField) bool { return f.Name == field.Name })
		in.wrong(isRequired(field) && !isSeen, inputName(field), "is required")
	}
	if len(in.fields) > 0 {
		return in.err()
	}
	for _, field := range seen {
		checkTags(in.wrong, inputName(field), in.target.FieldByIndex(field.Index), field.Tag)
	}
	if more, is := in.into.(checked); is && len(in.fields) == 0 {
		more.check(in.wrong)
	}
	return in.err()
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

// decode decodes one field from JSON, which is valid in a body. It trims optional texts and treats
// blank ones as absent.
func (in *input) decode(name string, field reflect.StructField, text []byte) {
	value, tags := in.target.FieldByIndex(field.Index), field.Tag
	if field.Type != reflect.TypeFor[[]json.RawMessage]() { // which are read later
		if problem := badEscape(string(text)); problem != "" {
			in.wrong(true, name, "must not contain %s", problem)
			return
		}
		if !bytes.HasPrefix(text, []byte(`"`)) { // a text, which parsing would unescape into another copy
			if path := givenTwice(name, gjson.ParseBytes(text)); path != "" {
				in.wrong(true, path, "is given twice")
				return
			}
		}
	}
	if into, is := value.Addr().Interface().(*filter.Filters); is {
		filters, err := filter.Read(text) // the database validates the members
		if err == nil && isCrowded(text) {
			err = errors.New("has too many values")
		}
		in.wrong(err != nil, name, "%v", err)
		*into = filters
		return
	}
	if json.Unmarshal(text, value.Addr().Interface()) != nil {
		in.wrong(true, name, "%s", typeOf(field))
		return
	}
	list := reflect.Indirect(value)
	in.wrong(list.Kind() == reflect.Slice && list.Len() > maxElements, name, "must have at most %d elements", maxElements)
	fallback, isOptional := tags.Lookup("default")
	if text, is := value.Interface().(*string); is && text != nil {
		if *text = strings.TrimSpace(*text); *text == "" {
			value.SetZero()
		}
	} else if isOptional && value.Kind() == reflect.String {
		value.SetString(cmp.Or(strings.TrimSpace(value.String()), fallback))
	}
}

// givenTwice returns the path of a member that an object has twice, at any depth, or "". Decoding
// would keep the last one in silence.
func givenTwice(path string, value gjson.Result) (twice string) {
	if !value.IsObject() && !value.IsArray() {
		return ""
	}
	given := map[string]bool{}
	value.ForEach(func(key, element gjson.Result) bool {
		inside := path + "[" + key.String() + "]"
		if value.IsObject() {
			inside = path + "." + key.String()
		}
		if given[inside] {
			twice = inside
		} else {
			given[inside] = true
			twice = givenTwice(inside, element)
		}
		return twice == ""
	})
	return twice
}

// typeOf says of which type a field must be.
func typeOf(field reflect.StructField) string {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "must be a string"
	case reflect.Bool:
		return "must be true or false"
	case reflect.Slice:
		return "must be a list of strings"
	case reflect.Struct:
		return "must be a JSON object"
	}
	if nameOf(field) == "" {
		return rangeOf(field.Tag)
	}
	if t.Kind() == reflect.Float64 {
		return "must be a number"
	}
	return "must be an integer"
}

// badEscape reports what JSON escapes that is no text: NUL, which Postgres cannot store, or half of
// a UTF-16 pair, as \ud83d alone, which decoding would replace in silence.
func badEscape(raw string) string {
	unit := func(i int) rune { // escaped at i
		if !strings.HasPrefix(raw[i:], `\u`) {
			return -1
		}
		value, _ := strconv.ParseUint(raw[i+2:min(i+6, len(raw))], 16, 16) // valid JSON has four digits there
		return rune(value)
	}
	for i := strings.IndexByte(raw, '\\'); i >= 0 && i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first := unit(i)
		switch {
		case first == 0:
			return "U+0000"
		case utf16.IsSurrogate(first):
			if i+6 > len(raw) || utf16.DecodeRune(first, unit(i+6)) == utf8.RuneError {
				return "half of a surrogate pair"
			}
			i += 6
		}
		i++ // whatever is escaped, a backslash too
	}
	return ""
}

// fewParameters rejects a query string with too many parameters before parsing it.
func fewParameters(c *fiber.Ctx) error {
	if bytes.Count(c.Request().URI().QueryString(), []byte("&")) >= maxParameters {
		return fault.New(fault.Invalid, fmt.Sprintf("A request has at most %d query parameters.", maxParameters))
	}
	return nil
}

// noParameters rejects unknown query parameters.
func noParameters(c *fiber.Ctx, known ...string) error {
	in := input{}
	for key := range c.Context().QueryArgs().All() {
		in.wrong(!slices.Contains(known, string(key)), string(key), "is not a parameter of this request")
	}
	return in.err()
}
