package filter_test

import (
	"encoding/json"
	"testing"

	"tasklens/internal/filter"
)

// Filters are written as people type them; 79_typed_filters_test.sql reads them back.
func TestString(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`: "",
		`{"statuses":["In Review","done"],"open":true}`:                                        `status:"In Review",done is:open`,
		`{"projects":["TX",6],"assignee":[null,"me"]}`:                                         "project:TX,6 no:assignee assignee:me",
		`{"labels":{"any":["a","b"],"all":["c"]},"open":false}`:                                "label:a,b label:c is:done",
		`{"created":{"from":"2026-01-01","to":"2026-01-31"},"due":{"to":"2026-03"}}`:           "created:2026-01-01..2026-01-31 due:..2026-03",
		`{"resolved":{"from":"2026-01-01"},"updated":{"from":"2026-02-01","to":"2026-02-01"}}`: "updated:2026-02-01 resolved:2026-01-01..",
		`{"not":{"assignee":["Ada Lovelace"],"labels":["ios"]}}`:                               `-assignee:"Ada Lovelace" -label:ios`,
	} {
		filters, err := filter.Read([]byte(object))
		if err != nil || filters.String() != want {
			t.Errorf("%s is written as %q, %v; want %q", object, filters, err, want)
		}
	}
}

func TestCorrect(t *testing.T) {
	t.Parallel()
	var typed filter.Members
	if err := json.Unmarshal([]byte(`{"statuses":["Done"],"assignee":["gary","me"],"not":{"labels":["ios","web"]}}`), &typed); err != nil {
		t.Fatal(err)
	}
	before := show(typed)
	corrected := typed.Correct([]filter.Candidate{
		{Member: "assignee", Value: "gary", Names: []string{"Gary Mathews"}}, {Member: "labels", Value: "ios", Names: []string{"iOS app"}},
		{Member: "labels", Value: "web", Names: []string{"web1", "web2"}},
	})
	want := `{"statuses":["Done"],"assignee":["Gary Mathews","me"],"not":{"labels":{"any":["iOS app","web"]}}}`
	if show(corrected) != want || show(typed) != before {
		t.Errorf("%s; want %s; %s before", show(corrected), want, show(typed))
	}
}
