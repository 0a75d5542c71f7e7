package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The recorded schemas have only what every client knows: one type, its members or elements, and
// enumerations of texts.
func TestSchemasAreOfTheCommonSubset(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct {
		Name        string
		InputSchema map[string]any
	}
	if err := json.Unmarshal(text, &tools); err != nil || len(tools) == 0 {
		t.Fatalf("%d tools (%v)", len(tools), err)
	}
	of := map[string][]string{
		"object": {"properties", "required", "additionalProperties"}, "array": {"items"}, "boolean": {"default"},
		"string": {"enum", "default", "maxLength"}, "integer": {"default", "minimum", "maximum"}, "number": {"default", "minimum", "maximum"},
	}
	var check func(path string, schema any)
	check = func(path string, schema any) {
		members, _ := schema.(map[string]any)
		kind, _ := members["type"].(string)
		if of[kind] == nil {
			t.Errorf("%s is of type %v", path, members["type"])
		}
		for keyword := range members {
			if keyword != "type" && keyword != "description" && !slices.Contains(of[kind], keyword) {
				t.Errorf("%s, a %s, has %s", path, kind, keyword)
			}
		}
		values, _ := members["enum"].([]any)
		for _, value := range values {
			if text, _ := value.(string); text == "" {
				t.Errorf("%s may be %v", path, value)
			}
		}
		properties, _ := members["properties"].(map[string]any)
		if kind == "object" && (len(properties) == 0 || members["additionalProperties"] != false) {
			t.Errorf("%s is an object without its members, or with others", path)
		}
		for name, property := range properties {
			check(path+"."+name, property)
		}
		if kind == "array" {
			check(path+"[]", members["items"])
		}
	}
	for _, tool := range tools {
		check(tool.Name, tool.InputSchema)
	}
}

type everything struct {
	Text    string     `json:"text" maxlen:"5"`
	Number  *float64   `json:"number,omitempty" min:"0" max:"1"`
	Whole   *int64     `json:"whole,omitempty" min:"1"`
	Flag    *bool      `json:"flag,omitempty"`
	Sort    *string    `json:"sort,omitempty" enum:"newest,To Do"`
	Filters filters    `json:"filters,omitempty"`
	Fields  sourceMore `json:"fields,omitempty"`
	Same    filters    `json:"same,omitempty"`
}

// What clients send of arguments is read as the schema has them, or refused in words that say what
// to send.
func TestArguments(t *testing.T) {
	t.Parallel()
	schema := schemaOf[everything](everything{})
	for given, want := range map[string]string{
		`{"text":"a"}`:                               `{"text":"a"}`,
		`"{\"text\":\"a\",\"whole\":\"2\"}"`:         `{"text":"a","whole":2}`,
		`{"text":7}`:                                 `{"text":"7"}`,
		`{"text":7.0}`:                               `{"text":"7"}`,
		`{"text":"a","number":"0.5","whole":5.0}`:    `{"text":"a","number":0.5,"whole":5}`,
		`{"text":"a","number":"1","whole":"5.0"}`:    `{"text":"a","number":1,"whole":5}`,
		`{"text":"a","whole":" 9007199254740993 "}`:  `{"text":"a","whole":9007199254740993}`,
		`{"text":"a","whole":4e2}`:                   `{"text":"a","whole":400}`,
		`{"text":"a","flag":"True","sort":"NEWEST"}`: `{"text":"a","flag":true,"sort":"newest"}`,
		`{"text":"a","sort":"\"to do\""}`:            `{"text":"a","sort":"To Do"}`,
		`{"text":"a","sort":"","fields":" ","filters":"","flag":"","number":"","whole":""}`:    `{"text":"a"}`,
		`{"text":"a","sort":null,"fields":null,"filters":"null","flag":"null","whole":"null"}`: `{"text":"a"}`,
		`{"text":"a","sort":"null"}`:   `{"text":"a"}`,
		`{"text":"null"}`:              `{"text":"null"}`,
		`{"text":"a","fields":"text"}`: `{"text":"a","fields":["text"]}`,
		`{"text":"a","fields":"['text', 'Similarity']","filters":[]}`:                                                       `{"text":"a","fields":["text","similarity"]}`,
		`{"text":"a","fields":"[\"TEXT\",\"similarity\"]"}`:                                                                 `{"text":"a","fields":["text","similarity"]}`,
		`{"text":"a","filters":"{\"projects\": [\"TX\"], \"open\": true}"}`:                                                 `{"text":"a","filters":{"projects":["TX"],"open":true}}`,
		`{"text":"a","filters":{"projects":"TX","open":"true","created":"{\"from\":\"2026-01-01\"}"}}`:                      `{"text":"a","filters":{"projects":["TX"],"open":true,"created":{"from":"2026-01-01"}}}`,
		`{"text":"a","filters":{"projects":["TX",3],"not":"{\"labels\":\"[\\\"a\\\",\\\"b\\\"]\"}"}}`:                       `{"text":"a","filters":{"projects":["TX","3",3],"not":{"labels":["a","b"]}}}`,
		`{"text":"a","filters":{"assignee":["Ada",null],"labels":{"all":["a"]},"colour":1,"open":"perhaps","statuses":[]}}`: `{"text":"a","filters":{"assignee":["Ada",null],"labels":{"all":["a"]},"colour":1,"open":"perhaps","statuses":[]}}`,
		`{"text":"a","same":"{}"}`:          `{"text":"a"}`,
		`null`:                              "text: is required. ",
		`""`:                                "text: is required. ",
		``:                                  "text: is required. ",
		`{"text":" "}`:                      "text: is required. ",
		`[]`:                                "text: is required. ",
		`"text"`:                            `arguments: must be an object, not "text". text: is required. `,
		`{"text":"abcdef"}`:                 `text: must be a text of at most 5 characters, not "abcdef". `,
		`{"text":true}`:                     `text: must be a text of at most 5 characters, not true. `,
		`{"text":["a"]}`:                    `text: must be a text of at most 5 characters, not ["a"]. `,
		`{"text":"a","whole":0}`:            `whole: must be an integer of at least 1, not 0. `,
		`{"text":"a","whole":2.5}`:          `whole: must be an integer of at least 1, not 2.5. `,
		`{"text":"a","whole":"many"}`:       `whole: must be an integer of at least 1, not "many". `,
		`{"text":"a","whole":"0x10"}`:       `whole: must be an integer of at least 1, not "0x10". `,
		`{"text":"a","whole":1e99}`:         `whole: must be an integer of at least 1, not 1e99. `,
		`{"text":"a","number":"NaN"}`:       `number: must be a number from 0 to 1, not "NaN". `,
		`{"text":"a","number":1.5}`:         `number: must be a number from 0 to 1, not 1.5. `,
		`{"text":"a","flag":"yes"}`:         `flag: must be true or false, not "yes". `,
		`{"text":"a","flag":1}`:             `flag: must be true or false, not 1. `,
		`{"text":"a","sort":"best"}`:        `sort: must be one of "newest", "To Do", not "best". `,
		`{"text":"a","fields":["nothing"]}`: `fields: must be a list of "type", "ticket_key", "ticket_name", "project_name", "document_id", "title", "text", "cited", "similarity", "ticket_id", "project_id", "comment", not ["nothing"]. `,
		`{"text":"a","filters":"open"}`:     `filters: must be an object of assignee, created, due, labels, labels_all, not, open, priorities, projects, reporter, resolved, statuses, types, updated, not "open". `,
		`{"text":"a","filters":[1]}`:        `filters: must be an object of assignee, created, due, labels, labels_all, not, open, priorities, projects, reporter, resolved, statuses, types, updated, not [1]. `,
		`{"text":"a","filters":"{\"projects\":[\"A\"],\"projects\":[\"B\"]}"}`: `filters: must be an object of assignee, created, due, labels, labels_all, not, open, priorities, projects, reporter, resolved, statuses, types, updated, not "{\"projects\":[\"A\"],\"projects\":[\"B\"]}". `,
		`{"text":"a","quary":1,"a":2}`:                                         `a: is unknown. Allowed: text, number, whole, flag, sort, filters, fields, same. quary: is unknown. Allowed: text, number, whole, flag, sort, filters, fields, same. `,
	} {
		var in everything
		err := readArguments(schema, json.RawMessage(given), &in)
		if strings.HasPrefix(want, "{") {
			got, _ := json.Marshal(in)
			if err != nil || !cmp.Equal(parsed(t, string(got)), parsed(t, want)) {
				t.Errorf("%s: %s (%v), not %s", given, got, err, want)
			}
		} else if got := fmt.Sprint(err); got != strings.TrimSuffix(want, " ")+" "+advice[400] {
			t.Errorf("%s: %s, not %s", given, got, want)
		}
	}
}

func parsed(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// Whatever JSON is sent, it is read or refused, briefly; what was encoded once more is read alike.
func TestAnyArguments(t *testing.T) {
	t.Parallel()
	schema := schemaOf[everything](everything{})
	scalar := rapid.OneOf(rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-10, 1e18).AsAny(), rapid.Int64().AsAny(), rapid.String().AsAny(),
		rapid.SampledFrom([]any{"true", "5.0", "[]", "{}", `["text"]`, `{"open":"true"}`, "newest", "null", " "}))
	names := rapid.SampledFrom(append(slices.Clone(schema.PropertyOrder), "from", "labels", "open", "not", "x"))
	value := rapid.OneOf(scalar, rapid.SliceOfN(scalar, 0, 3).AsAny(), rapid.MapOfN(names, rapid.OneOf(scalar, rapid.MapOfN(names, scalar, 0, 3).AsAny()), 0, 3).AsAny())
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.MapOfN(names, value, 0, 5).Draw(t, "given")
		text, err := json.Marshal(given)
		if err != nil {
			t.Skip("not JSON")
		}
		var once, twice everything
		failed := readArguments(schema, text, &once)
		if failed != nil && (!strings.HasSuffix(failed.Error(), advice[400]) || len(failed.Error()) > 6000) {
			t.Fatalf("%s: %v", text, failed)
		}
		again, err := json.Marshal(string(text))
		if err != nil || len(text) > maxEncoded {
			t.Skip("too long")
		}
		if nested := readArguments(schema, again, &twice); fmt.Sprint(nested) != fmt.Sprint(failed) || failed == nil && !cmp.Equal(once, twice) {
			t.Fatalf("%s: %v, and encoded once more %v", text, failed, nested)
		}
	})
}
