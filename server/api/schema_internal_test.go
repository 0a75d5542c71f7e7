package api

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
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
		text, err := json.Marshal(all.named[0].value)
		if err := errors.Join(err, json.Unmarshal(text, &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("request %t: %s", request, text)
		}
	}
}
