package api

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The tags of a field, which requests are validated by (valid.go) and the document is generated
// from (scripts/lab/describe):
//
//	json, path, query  its name, and where it stands
//	doc, example       for people: in doc, ~ stands for a backtick; an example is JSON, else a text
//	min, max           of a number; of a list, how many elements
//	length             the most characters of a text, once trimmed, of which one must be visible
//	maxlen             the same, of a text that may be empty
//	enum               the values, separated by commas
//	format, pattern    as in JSON Schema
//	default            what a field or parameter is that is left out, null or blank; "" is nothing
//	schema             the name of a schema that scripts/lab/describe has
//
//	kinds              of a struct of several kinds: the field that tells them, and each kind with
//	                   the name of its schema
//	of, may            the kinds that always have the field, or that may have it; it is null in the
//	                   others
//
// A field of a request that is a pointer or has a default may be left out or null. A field of a
// response is always there, unless it has omitempty or is of an embedded pointer, and null if it is
// a nil pointer. The tags of a struct itself are those of its field _: doc, example, kinds, schema
// (its name in the document), asked (that in requests), and open (it may have other members).

// bodyFields are those that JSON has, also of embedded structs.
func bodyFields(t reflect.Type) []reflect.StructField { return fieldsOf(t, nameOf) }

// fieldsOf are the fields that have a name.
func fieldsOf(t reflect.Type, name func(reflect.StructField) string) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(field reflect.StructField) bool {
		return name(field) == "" || !field.IsExported()
	})
}

// nameOf is a field's name in JSON, or "" if it has none.
func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}

// inputName is a field's name in a request, or "" if requests do not have it.
func inputName(field reflect.StructField) string {
	return cmp.Or(nameOf(field), field.Tag.Get("path"), field.Tag.Get("query"))
}

// isRequired reports whether a request must have a field. If it need not have any, its body may be
// empty.
func isRequired(field reflect.StructField) bool {
	_, hasDefault := field.Tag.Lookup("default")
	return !hasDefault && field.Type.Kind() != reflect.Pointer
}

// setDefault sets a field to the value of its tag.
func setDefault(field reflect.Value, tags reflect.StructTag) {
	text := tags.Get("default")
	switch {
	case text == "":
		field.SetZero()
	case field.Kind() == reflect.String:
		field.SetString(text)
	default:
		if err := json.Unmarshal([]byte(text), field.Addr().Interface()); err != nil {
			panic("not a value in a tag: " + text)
		}
	}
}

// elementTags are the tags of a list that are about its elements.
func elementTags(tags reflect.StructTag) (of reflect.StructTag) {
	for _, name := range []string{"length", "maxlen", "format", "enum"} {
		if value, has := tags.Lookup(name); has {
			of += reflect.StructTag(name + ":" + strconv.Quote(value) + " ")
		}
	}
	return of
}

// kindOf is the kind of a field's values.
func kindOf(field reflect.StructField) reflect.Kind {
	if field.Type.Kind() == reflect.Pointer {
		return field.Type.Elem().Kind()
	}
	return field.Type.Kind()
}

// typeOf says of which type a field must be.
func typeOf(field reflect.StructField) string {
	kind := kindOf(field)
	switch {
	case kind == reflect.String:
		return "must be a string"
	case kind == reflect.Bool:
		return "must be true or false"
	case kind == reflect.Slice && field.Type.Elem().Kind() == reflect.String:
		return "must be a list of strings"
	case kind == reflect.Slice:
		return "must be a list of objects"
	case kind == reflect.Struct:
		return "must be a JSON object with members that are listed"
	case nameOf(field) == "":
		return rangeOf(field.Tag)
	case kind == reflect.Float64:
		return "must be a number"
	default:
		return "must be an integer"
	}
}
