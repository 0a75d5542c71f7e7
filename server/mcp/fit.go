package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"tasklens/internal/clean"
)

// maxEncoded bounds a text that is read as JSON, in bytes: decoded, it takes many times its size.
const maxEncoded = 16 << 10

// readArguments decodes the arguments of a call as the schema of its tool has them, and refuses
// what cannot be read so.
func readArguments(schema *jsonschema.Schema, arguments json.RawMessage, into any) error {
	given, _ := decoded(arguments)
	given, err := fit("arguments", &jsonschema.Schema{Type: "object"}, given)
	members, _ := given.(object)
	wrong := []error{err}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if schema.Properties[name] == nil {
			wrong = append(wrong, fmt.Errorf("%s: is unknown. Allowed: %s", clean.Excerpt(line(name), maxName), strings.Join(schema.PropertyOrder, ", ")))
		}
	}
	fitting := object{}
	for _, name := range schema.PropertyOrder {
		value, err := fit(name, schema.Properties[name], members[name])
		if err == nil && value == nil && slices.Contains(schema.Required, name) {
			err = fmt.Errorf("%s: is required", name)
		}
		fitting[name], wrong = value, append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return refuse("%s. %s", strings.ReplaceAll(err.Error(), "\n", ". "), advice[400])
	}
	text, err := json.Marshal(fitting)
	if err != nil {
		return fmt.Errorf("encode the arguments: %w", err)
	}
	return json.Unmarshal(text, into)
}

// fit returns a value as its schema has it, nil if it is absent. Models and their clients send
// objects, lists, numbers and booleans as texts, ids as numbers, 5.0 for 5, an empty text for
// nothing, one element for a list, [] for {}, and enumerations in another case or as one text. A
// member of an object that does not fit stays as it is: the API takes more forms of it than tools
// publish.
func fit(path string, schema *jsonschema.Schema, value any) (any, error) {
	value = heldBy(value, schema.Type)
	text, isText := value.(string)
	number, isNumber := whole(value)
	switch kind := schema.Type; {
	case value == nil || isText && strings.TrimSpace(text) == "":
		return nil, nil
	case kind == "object":
		if list, is := value.([]any); is && len(list) == 0 { // PHP's
			return nil, nil
		}
		if members, is := value.(object); is {
			for name, property := range schema.Properties {
				if fitting, err := fit(path+"."+name, property, members[name]); err == nil && fitting != nil {
					members[name] = fitting
				}
			}
			return members, nil
		}
	case kind == "array":
		list, is := value.([]any)
		if !is && isText && schema.Items.Enum != nil {
			for name := range strings.SplitSeq(text, ",") {
				list = append(list, name)
			}
		} else if !is {
			list = []any{value}
		}
		fitting := make([]any, len(list))
		for i, element := range list {
			var err error
			if fitting[i], err = fit(fmt.Sprintf("%s[%d]", path, i), schema.Items, element); err != nil || fitting[i] == nil {
				return nil, misfit(path, schema, value)
			}
		}
		return fitting, nil
	case kind == "boolean":
		if _, is := value.(bool); is {
			return value, nil
		}
	case kind == "string" && schema.Enum != nil && isText:
		for _, known := range schema.Enum {
			if strings.EqualFold(known.(string), strings.Trim(text, `"'[] `)) {
				return known, nil
			}
		}
		if text == "null" {
			return nil, nil
		}
	case kind == "string" && (isText || isNumber) && schema.Enum == nil:
		if isNumber {
			text = number.String()
		}
		if schema.MaxLength == nil || utf8.RuneCountInString(text) <= *schema.MaxLength {
			return text, nil
		}
	case isNumber:
		_, err := number.Int64()
		size, _ := number.Float64()
		if (err == nil || kind == "number") && (schema.Minimum == nil || size >= *schema.Minimum) && (schema.Maximum == nil || size <= *schema.Maximum) {
			return number, nil
		}
	}
	return nil, misfit(path, schema, value)
}

// heldBy is the value that a text holds as JSON where a value of this type is wanted, or the text.
func heldBy(value any, kind string) any {
	text, is := value.(string)
	if !is || kind == "string" || len(text) > maxEncoded {
		return value
	}
	if kind == "boolean" {
		text = strings.ToLower(text) // Python has True
	}
	inner, is := decoded([]byte(text))
	if _, isList := inner.([]any); !is || kind == "array" && inner != nil && !isList { // a list of this text
		return value
	}
	return inner
}

// decoded decodes JSON. A name that is given twice is no JSON.
func decoded(text []byte) (value any, is bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	is = jsontext.Value(text).IsValid() && decoder.Decode(&value) == nil
	return value, is
}

// whole returns a number, as 5 for 5.0 and 5e0.
func whole(value any) (number json.Number, is bool) {
	number, is = value.(json.Number)
	if size, err := number.Float64(); err == nil && size == math.Trunc(size) && math.Abs(size) < 1<<53 {
		number = json.Number(strconv.FormatInt(int64(size), 10))
	}
	return number, is
}

// misfit says what an argument must be, and what it is.
func misfit(path string, schema *jsonschema.Schema, value any) error {
	must := map[string]string{"object": "an object", "array": "a list", "boolean": "true or false", "string": "a text", "integer": "an integer", "number": "a number"}[schema.Type]
	switch {
	case len(schema.Properties) > 0:
		must += " of " + strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", ")
	case schema.Items != nil && schema.Items.Enum != nil:
		must += " of " + anyOf(schema.Items.Enum)
	case schema.Items != nil:
		must += " of texts"
	case schema.Enum != nil:
		must = "one of " + anyOf(schema.Enum)
	case schema.MaxLength != nil:
		must += fmt.Sprintf(" of at most %d characters", *schema.MaxLength)
	case schema.Maximum != nil:
		must += fmt.Sprintf(" from %v to %v", *schema.Minimum, *schema.Maximum)
	case schema.Minimum != nil:
		must += fmt.Sprintf(" of at least %v", *schema.Minimum)
	}
	text, _ := json.Marshal(value) // what was decoded
	return fmt.Errorf("%s: must be %s, not %s", path, must, clean.Excerpt(clean.Line(string(text), 2*maxShown), maxShown))
}

// How much of a wrong argument and of its name a refusal repeats, in characters.
const maxShown, maxName = 60, 500

// anyOf lists values, as in "newest", "updated".
func anyOf(values []any) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", values), "[]"), `" "`, `", "`)
}
