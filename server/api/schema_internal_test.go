package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"go.yaml.in/yaml/v3"
)

// What a struct's tags become, of a request and of a response.
func TestSchemas(t *testing.T) {
	t.Parallel()
	type sample struct {
		Needed string    `json:"needed" length:"9" doc:"Text with ~code~."`
		Choice *string   `json:"choice" enum:"a,b"`
		Count  *int      `json:"count,omitempty" min:"1" max:"5"`
		Names  *[]string `json:"names" maxlen:"3"`
		Hidden int
	}
	for request, want := range map[bool]string{
		true: `{"type":"object","additionalProperties":false,"required":["needed"],"properties":{
			"needed":{"type":"string","minLength":1,"maxLength":9,"pattern":"\\S","description":"Text with ` + "`code`" + `."},
			"choice":{"type":"string","enum":["a","b","",null],"nullable":true},
			"count":{"type":"integer","minimum":1,"maximum":5,"nullable":true},
			"names":{"type":"array","maxItems":50,"items":{"type":"string","maxLength":3},"nullable":true}}}`,
		false: `{"type":"object","additionalProperties":false,"required":["needed","choice","names"],"properties":{
			"needed":{"type":"string","minLength":1,"maxLength":9,"pattern":"\\S","description":"Text with ` + "`code`" + `."},
			"choice":{"type":"string","enum":["a","b",null],"nullable":true},
			"count":{"type":"integer","minimum":1,"maximum":5},
			"names":{"type":"array","items":{"type":"string","maxLength":3},"nullable":true}}}`,
	} {
		all := schemas{known: map[string]bool{}, request: request}
		all.structure(reflect.TypeFor[sample]())
		var got, wanted any
		if err := node(all.named[0].value).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(bytes.ReplaceAll([]byte(want), []byte("\t"), nil), &wanted); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, wanted) {
			text, _ := json.Marshal(got)
			t.Errorf("request %t: %s", request, text)
		}
	}
}
