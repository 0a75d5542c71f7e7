package describe

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tasklens/internal/filter"
)

// member is one of an object, whose order readers see.
type member struct {
	name  string
	value any
}

type object []member

func (o *object) add(name string, value any) { *o = append(*o, member{name, value}) }

// addTag adds a tag's value, if the field has it: as JSON, or else as a text.
func (o *object) addTag(name string, tags reflect.StructTag, tag string) {
	if text, has := tags.Lookup(tag); has {
		o.add(name, literal(text))
	}
}

func literal(text string) any {
	var value json.RawMessage
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// inCode writes a tag's text as Markdown: a tag has no backticks, so ~ stands for one.
func inCode(text string) string { return strings.ReplaceAll(text, "~", "`") }

func reference(name string) object { return object{{"$ref", "#/components/schemas/" + name}} }

// schemas are the named ones of a document.
type schemas struct {
	api             API
	named           object
	known           map[string]bool
	request         bool   // whether what is described now is one
	kindField, kind string // of what is described now, if it is a struct of several kinds
}

var (
	timeType    = reflect.TypeFor[time.Time]()
	filtersType = reflect.TypeFor[filter.Filters]()
)

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// ownTags are the tags of a struct itself.
func ownTags(t reflect.Type) reflect.StructTag {
	for i := range t.NumField() {
		if t.Field(i).Name == "_" {
			return t.Field(i).Tag
		}
	}
	return ""
}

// of returns the schema of a type, as a field with these tags has it.
func (s *schemas) of(t reflect.Type, tags reflect.StructTag) object {
	if name, has := tags.Lookup("schema"); has {
		return reference(name)
	}
	fallback, optional := tags.Lookup("default")
	inBody := tags.Get("json") != ""
	nullable := inBody && (t.Kind() == reflect.Pointer && (s.request || !strings.Contains(tags.Get("json"), ",omit")) || s.request && optional)
	isPointer := t.Kind() == reflect.Pointer
	if isPointer {
		t = t.Elem()
	}
	if t == filtersType || t == membersType {
		return s.filters(tags)
	}
	var o object
	switch {
	case t == valuesType:
		o = s.values(tags)
	case t == labelsType && s.request:
		o = object{{"oneOf", append([]any{s.structure(t)}, s.values("")[0].value.([]any)...)}}
	case t == timeType:
		o = object{{"type", "string"}, {"format", "date-time"}}
	case t.Kind() == reflect.Struct:
		o = s.structure(t)
		if _, has := tags.Lookup("doc"); !has && !nullable {
			return o
		}
		if o[0].name == "$ref" { // beside which nothing counts
			o = object{{"allOf", []any{o}}}
		}
	case t.Kind() == reflect.Slice:
		o = object{{"type", "array"}}
		o.addTag("minItems", tags, "min")
		o.addTag("maxItems", tags, "max")
		if _, has := tags.Lookup("max"); !has && s.request {
			o.add("maxItems", s.api.Elements)
		}
		o.add("items", s.of(t.Elem(), s.api.Tags.Elements(tags)))
	case t.Kind() == reflect.Map:
		o = object{{"type", "object"}, {"additionalProperties", s.of(t.Elem(), "")}}
	case t.Kind() == reflect.Interface:
		o = object{{"oneOf", []any{object{{"type", "string"}}, object{{"type", "integer"}, {"format", "int64"}}, object{{"type", "boolean"}}}}}
	case t.Kind() == reflect.String:
		o = s.text(tags, nullable)
	case t.Kind() == reflect.Bool:
		o = object{{"type", "boolean"}}
	case t.Kind() == reflect.Float64:
		o = object{{"type", "number"}, {"format", "double"}}
	case t.Kind() == reflect.Int64:
		o = object{{"type", "integer"}, {"format", "int64"}}
	case t.Kind() == reflect.Int:
		o = object{{"type", "integer"}}
	}
	if t.Kind() == reflect.Float64 || t.Kind() == reflect.Int64 || t.Kind() == reflect.Int {
		o.addTag("minimum", tags, "min")
		o.addTag("maximum", tags, "max")
	}
	if !inBody && fallback != "" { // in a body it would make a field of the request required in TypeScript
		o.addTag("default", tags, "default")
	}
	if t.Kind() == reflect.Bool {
		if strings.Contains(tags.Get("json"), ",omit") && !isPointer {
			o.add("enum", []any{true})
		}
	}
	if nullable {
		o.add("nullable", true)
	}
	text := tags.Get("doc")
	if inBody && s.request && fallback != "" {
		if t.Kind() == reflect.String {
			fallback = "~" + fallback + "~"
		}
		text = strings.TrimPrefix(strings.TrimSuffix(text, ".")+"; "+fallback+" by default.", "; ")
	}
	if text != "" {
		o.add("description", inCode(text))
	}
	if t.Kind() != reflect.Struct {
		o.addTag("example", tags, "example")
	}
	return o
}

func (s *schemas) text(tags reflect.StructTag, nullable bool) object {
	o := object{{"type", "string"}}
	if most, has := tags.Lookup("length"); has {
		o = append(o, member{"minLength", 1}, member{"maxLength", json.RawMessage(most)})
		if !nullable {
			o.add("pattern", `[^\s\x00-\x1f\x7f-\x9f]`)
		}
	}
	if most, has := tags.Lookup("maxlen"); has {
		o.add("maxLength", json.RawMessage(most))
	}
	if tags.Get("format") == "uuid" && s.request && nullable { // blank counts as left out
		return object{{"anyOf", []any{object{{"type", "string"}, {"format", "uuid"}}, object{{"type", "string"}, {"enum", []string{""}}}}}}
	}
	for _, name := range []string{"format", "pattern"} {
		if value, has := tags.Lookup(name); has {
			o.add(name, value)
		}
	}
	if values, has := tags.Lookup("enum"); has {
		var all []any
		for _, value := range strings.Split(values, ",") {
			all = append(all, value)
		}
		if nullable && s.request {
			all = append(all, "")
		}
		if nullable {
			all = append(all, nil)
		}
		o.add("enum", all)
	}
	return o
}

// structure returns the schema of a struct: a reference, if it has a name.
func (s *schemas) structure(t reflect.Type) object {
	own := ownTags(t)
	name := own.Get("schema")
	if asked, has := own.Lookup("asked"); has && s.request {
		name = asked
	}
	if name == "" && t.Name() != "" && t.PkgPath() == s.api.Problem.PkgPath() && !strings.Contains(t.Name(), "[") {
		name = strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	}
	if name == "" && s.request && t.PkgPath() == membersType.PkgPath() { // generators name classes by where a nameless object stands first
		name = t.Name() + "Filter"
	}
	if kinds, has := own.Lookup("kinds"); has {
		return s.union(name, t, kinds)
	}
	return s.define(name, t, own)
}

// union describes a struct of several kinds.
func (s *schemas) union(name string, t reflect.Type, kinds string) object {
	if s.known[name] {
		return reference(name)
	}
	s.known[name] = true
	at := len(s.named)
	s.named.add(name, nil)
	field, list, _ := strings.Cut(kinds, ": ")
	var all []any
	var mapping object
	for _, kind := range strings.Split(list, ", ") {
		value, schema, _ := strings.Cut(kind, " ")
		s.kindField, s.kind = field, value
		all = append(all, s.define(schema, t, ""))
		mapping.add(value, "#/components/schemas/"+schema)
	}
	s.named[at].value = object{{"description", inCode(ownTags(t).Get("doc"))}, {"oneOf", all}, {"discriminator", object{{"propertyName", field}, {"mapping", mapping}}}}
	return reference(name)
}

// ofKind returns the schema of a field in a struct of this kind, and whether it is always there.
func (s *schemas) ofKind(kindField, kind string, field reflect.StructField) (schema object, always bool) {
	t, tags := field.Type, field.Tag
	of, isOf := tags.Lookup("of")
	may, isMay := tags.Lookup("may")
	switch {
	case s.api.Tags.Name(field) == kindField:
		return object{{"type", "string"}, {"enum", []string{kind}}}, true
	case slices.Contains(strings.Split(of, ","), kind): // as a field that is no pointer
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return s.of(t, tags), true
	case isOf || isMay && !slices.Contains(strings.Split(may, ","), kind):
		only := slices.DeleteFunc(s.of(t, tags), func(m member) bool { return !slices.Contains([]string{"type", "allOf", "items"}, m.name) })
		return append(only, member{"nullable", true}, member{"description", "Always null."}), true
	default:
		return s.of(t, tags), !strings.Contains(tags.Get("json"), ",omit")
	}
}

// define describes a struct, but for some of its members, under a name, if it has one.
func (s *schemas) define(name string, t reflect.Type, own reflect.StructTag, except ...string) object {
	kindField, kind := s.kindField, s.kind
	s.kindField, s.kind = "", "" // of its members
	if s.known[name] {
		return reference(name)
	}
	_, isOpen := own.Lookup("open")
	o := object{{"type", "object"}, {"additionalProperties", isOpen}}
	if text := own.Get("doc"); text != "" {
		o.add("description", inCode(text))
	}
	var required []string
	var properties object
	at := -1
	if name != "" { // before what it refers to, as readers expect
		s.known[name] = true
		at = len(s.named)
		s.named.add(name, nil)
	}
	for _, field := range s.api.Tags.Fields(t) {
		if slices.Contains(except, s.api.Tags.Name(field)) {
			continue
		}
		if kind != "" {
			schema, always := s.ofKind(kindField, kind, field)
			properties.add(s.api.Tags.Name(field), schema)
			if always {
				required = append(required, s.api.Tags.Name(field))
			}
			continue
		}
		if _, always := field.Tag.Lookup("of"); always && field.Type.Kind() == reflect.Pointer {
			field.Type = field.Type.Elem() // in a struct of one kind, which is of these
		}
		properties.add(s.api.Tags.Name(field), s.of(field.Type, field.Tag))
		if field.Type == labelsType && s.request {
			properties.add("labels_all", append(s.values(""), member{"nullable", true}))
		}
		mayLack := strings.Contains(field.Tag.Get("json"), ",omit") || t.Field(field.Index[0]).Type.Kind() == reflect.Pointer && len(field.Index) > 1
		if s.request && s.api.Tags.IsRequired(field) || !s.request && !mayLack {
			required = append(required, s.api.Tags.Name(field))
		}
	}
	if required != nil {
		o.add("required", required)
	}
	if properties != nil {
		o.add("properties", properties)
	}
	o.addTag("example", own, "example")
	if name == "" {
		return o
	}
	s.named[at].value = o
	return reference(name)
}

var (
	membersType = reflect.TypeFor[filter.Members]()
	labelsType  = reflect.TypeFor[filter.Labels]()
	valuesType  = reflect.TypeFor[filter.Values]()
)

// filters returns the schema of filters, which a response writes in one form only. Those under
// "not" have fewer members.
func (s *schemas) filters(tags reflect.StructTag) object {
	name, own := "Filters", ownTags(membersType)
	if !s.request {
		name, own = "ReadFilters", `doc:"The filters of a query, in the form that ~filters~ of a request takes."`
	}
	if strings.HasPrefix(tags.Get("json"), "not,") {
		return s.optional(s.define(name+"Not", membersType, reflect.StructTag("doc:"+strconv.Quote(tags.Get("doc"))), "open", "not"))
	}
	return s.optional(s.define(name, membersType, own))
}

// optional lets a request have null for what is referred to.
func (s *schemas) optional(o object) object {
	if s.request {
		o = object{{"allOf", []any{o}}, {"nullable", true}}
	}
	return o
}

// values returns the schema of a list of filter values; in a request one value needs no list.
func (s *schemas) values(tags reflect.StructTag) object {
	text := object{{"type", "string"}}
	id := object{{"type", "integer"}, {"format", "int64"}, {"minimum", 1}, {"maximum", filter.MaxID}}
	if s.request {
		text.add("maxLength", filter.MaxCharacters)
	}
	one, alone := text, []any{text}
	switch tags.Get("values") {
	case "ids":
		alone = []any{text, id}
		one = object{{"oneOf", alone}}
	case "people":
		one = append(object{{"nullable", true}}, text...)
	}
	if !s.request {
		return object{{"type", "array"}, {"minItems", 1}, {"items", one}}
	}
	return object{{"oneOf", append([]any{object{{"type", "array"}, {"maxItems", filter.MaxValues}, {"items", one}}}, alone...)}}
}
