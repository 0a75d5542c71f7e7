package filter_test

import (
	"encoding/json"
	"testing"

	"tasklens/internal/filter"
)

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestRead(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"projects":["TX",3],"open":false,"assignee":["Me",null]}`: `{"assignee":["Me",null],"open":false,"projects":["TX",3]}`,
		`{"projects":123456789012345678}`:                           `{"projects":123456789012345678}`,
		// The database refuses these.
		`{"":null,"colour":null,"updated":[],"open":[],"statuses":{},"labels":{"any":{},"from":""}}`: `{"":null,"colour":null,"labels":{"any":{},"from":""},"open":[],"statuses":{},"updated":[]}`,
		`{"types":[[],"",{}],"not":{"not":[],"due":{"to":[],"any":""}}}`:                             `{"not":{"due":{"any":"","to":[]},"not":[]},"types":[[],{}]}`,
		`{"labels":["a"],"labels_all":["b"],"not":{"labels_all":"c"}}`:                               `[{"labels":["a"],"not":{"labels":{"all":"c"}}},{"labels":{"all":["b"]}}]`,
		`{"labels_all":"b"}`: `{"labels":{"all":"b"}}`,
		// Blank members count as absent.
		`{"statuses":["  ","Done"],"types":" ","assignee":null,"labels":{"any":null}}`: `{"statuses":["Done"]}`,
	} {
		if filters, err := filter.Read([]byte(object)); err != nil || show(filters) != want {
			t.Errorf("%s is read as %s, %v; want %s", object, show(filters), err, want)
		}
	}
	for _, object := range []string{`{}`, `{"projects":[],"open":null,"created":{"from":""},"not":{"types":[" "]},"labels_all":[]}`} {
		if filters, err := filter.Read([]byte(object)); err != nil || len(filters) > 0 {
			t.Errorf("%s is read as %s, %v; want none", object, show(filters), err)
		}
	}
	for object, want := range map[string]string{
		`[]`: "must be a JSON object", `"open"`: "must be a JSON object", `null`: "must be a JSON object",
		`{"not":{"types":["a\u0000"]}}`: "must not contain U+0000", `{"\u0000":1}`: "must not contain U+0000",
		`{"projects":[1e999999]}`: "must not contain a number with an exponent",
	} {
		if _, err := filter.Read([]byte(object)); err == nil || err.Error() != want {
			t.Errorf("%s: the error is %v, want %s", object, err, want)
		}
	}
}

func TestAnd(t *testing.T) {
	t.Parallel()
	given, err := filter.Read([]byte(`{"open":true}`))
	if err != nil {
		t.Fatal(err)
	}
	joined := given.And(filter.Members{}).And(filter.Members{Types: filter.Values{"bug"}})
	other := given.And(filter.Members{Types: filter.Values{"task"}})
	if show(joined) != `[{"open":true},{"types":["bug"]}]` || show(other) != `[{"open":true},{"types":["task"]}]` || show(given) != `{"open":true}` {
		t.Errorf("%s and %s, from %s", show(joined), show(other), show(given))
	}
}
