package filter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tasklens/internal/filter"
)

// decode reads filters and returns the errors, one per line.
func decode(object string) (filter.Filters, string) {
	var told []string
	f := filter.Decode("filters", []byte(object), func(path, message string) { told = append(told, path+" "+message) })
	return f, strings.Join(told, "\n")
}

func show(f filter.Filters) string {
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`: `{}`,
		`{"projects":["TX",3],"statuses":"In Progress","open":true,"assignee":["Me","Noor",null],"reporter":"Ada"}`: `{"projects":["TX",3],"statuses":["In Progress"],"open":true,"assignee":["me","Noor",null],"reporter":["Ada"]}`,
		`{"projects":7,"types":["Bug"],"priorities":["High"],"labels":["a","b"]}`:                                   `{"projects":[7],"types":["Bug"],"priorities":["High"],"labels":{"any":["a","b"]}}`,
		`{"labels":{"any":"a","all":["b"]},"labels_all":["c"]}`:                                                     `{"labels":{"any":["a"],"all":["b","c"]}}`,
		`{"created":{"from":"2025-03-01","to":"2025-03-01"},"due":{"to":"2025-03-31"}}`:                             `{"created":{"from":"2025-03-01","to":"2025-03-01"},"due":{"to":"2025-03-31"}}`,
		`{"updated":{"from":" 2025-03-01T08:00:00+01:00 ","to":""}}`:                                                `{"updated":{"from":"2025-03-01T08:00:00+01:00"}}`,
		`{"not":{"labels":"ios","assignee":[null],"due":{"from":"2025-01-01"}}}`:                                    `{"assignee":0}`,
		// The same as absent.
		`{"projects":[],"statuses":["  "],"types":" ","open":null,"assignee":null,"labels":{},"created":{},"not":{"types":[]}}`: `{}`,
		`{"created":{"from":null,"to":null},"labels":{"any":null}}`:                                                             `{}`,
		`{"types":[" Bug "]}`:                            `{"types":["Bug"]}`,
		`{"types":["` + strings.Repeat("é", 255) + `"]}`: `{"types":["` + strings.Repeat("é", 255) + `"]}`,
	} {
		if want == `{"assignee":0}` {
			want = `{"not":{"assignee":[null],"labels":{"any":["ios"]},"due":{"from":"2025-01-01"}}}`
		}
		f, wrong := decode(object)
		if show(f) != want || wrong != "" || f.IsZero() != (want == `{}`) {
			t.Errorf("%s is read as %s: %s", object, show(f), wrong)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`"x",`, 51), ",")
	for object, want := range map[string]string{
		`[]`:                                 `filters must be a JSON object`,
		`"open"`:                             `filters must be a JSON object`,
		`{"colour":"red"}`:                   `filters.colour is not a filter`,
		`{"types":"a","types":"b"}`:          `filters.types is given twice`,
		`{"types":5}`:                        `filters.types must be a string or a list of them`,
		`{"types":{"a":1}}`:                  `filters.types must be a string or a list of them`,
		`{"assignee":["me",5]}`:              `filters.assignee[1] must be a string or null`,
		`{"priorities":[null]}`:              `filters.priorities[0] must be a string`,
		`{"projects":[0]}`:                   `filters.projects[0] must be a key or an id`,
		`{"projects":[1.5]}`:                 `filters.projects[0] must be a key or an id`,
		`{"projects":-1}`:                    `filters.projects must be a key or an id or a list of them`,
		`{"projects":[1000000000000000000]}`: `filters.projects[0] must be a key or an id`,
		`{"projects":[1e2]}`:                 `filters.projects[0] must be a key or an id`,
		`{"statuses":["a\u0000"]}`:           `filters.statuses[0] must not contain U+0000`,
		`{"statuses":[` + many + `]}`:        `filters.statuses must have at most 50 elements`,
		`{"types":"` + strings.Repeat("x", 256) + `"}`:           `filters.types must have at most 255 characters`,
		`{"labels":["a",["b"]]}`:                                 `filters.labels[1] must be a string`,
		`{"labels":{"some":["a"]}}`:                              `filters.labels.some is not known: labels have any and all`,
		`{"labels":{"all":[1]}}`:                                 `filters.labels.all[0] must be a string`,
		`{"labels":{"all":[` + many[4:] + `]},"labels_all":"y"}`: `filters.labels must have at most 50 elements`,
		`{"open":"yes"}`:                                         `filters.open must be true or false`,
		`{"created":"2025-03-01"}`:                               `filters.created must be a JSON object`,
		`{"created":{"since":"2025-03-01"}}`:                     `filters.created.since is not known: a range has from and to`,
		`{"created":{"from":20250301}}`:                          `filters.created.from must be a date (2025-03-01) or a time (RFC 3339)`,
		`{"created":{"from":"2025-02-30"}}`:                      `filters.created.from must be a date (2025-03-01) or a time (RFC 3339)`,
		`{"created":{"to":"0000-01-01"}}`:                        `filters.created.to must be a date (2025-03-01) or a time (RFC 3339)`,
		`{"due":{"to":"2025-03-01T00:00:00Z"}}`:                  `filters.due.to must be a date (2025-03-01)`,
		`{"due":{"from":"2025-03-02","to":"2025-03-01"}}`:        `filters.due.from must not be after to`,
		`{"not":{"open":true}}`:                                  `filters.not.open must be left out under "not"`,
		`{"not":{"not":{}}}`:                                     `filters.not.not must be left out under "not"`,
		`{"not":{"types":[1]}}`:                                  `filters.not.types[0] must be a string`,
		`{"not":[]}`:                                             `filters.not must be a JSON object`,
		`{"colour":1,"types":[1,2]}`:                             "filters.colour is not a filter\nfilters.types[0] must be a string\nfilters.types[1] must be a string",
	} {
		if _, wrong := decode(object); wrong != want {
			t.Errorf("%.80s: %s", object, wrong)
		}
	}
}

// Oversized filters cost little memory and produce few errors.
func TestDecodeIsBounded(t *testing.T) {
	t.Parallel()
	_, wrong := decode(`{"types":[` + strings.Repeat("1,", 400_000) + `1]}`)
	if lines := strings.Count(wrong, "\n"); lines > 50 {
		t.Errorf("%d lines", lines)
	}
	var members strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&members, `"m%d":1,`, i)
	}
	_, wrong = decode(`{` + members.String() + `"x":1}`)
	if lines := strings.Count(wrong, "\n"); lines > 50 {
		t.Errorf("%d lines", lines)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	project, status := int64(3), "Done"
	for given, want := range map[string]string{
		`{}`:                 `{"projects":[3],"statuses":["Done"]}`,
		`{"open":false}`:     `{"projects":[3],"statuses":["Done"],"open":false}`,
		`{"projects":[3,4]}`: `{"projects":[3],"statuses":["Done"]}`,
	} {
		filters, _ := decode(given)
		if got, err := filters.Within(&project, &status); err != nil || show(got) != want || *got.Project() != project {
			t.Errorf("%s: %s, not %s (%v)", given, show(got), want, err)
		}
		if got, err := filters.Within(nil, nil); err != nil || show(got) != show(filters) {
			t.Errorf("%s: %s (%v)", given, show(got), err)
		}
	}
	other := filter.Filters{Statuses: filter.Texts("To Do")}
	if got, err := other.Within(nil, &status); err != nil || !got.Nothing || got.Project() != nil {
		t.Errorf("two statuses: %s (%v)", show(got), err)
	}
	if _, err := (filter.Filters{Projects: filter.Texts("TX")}).Within(&project, nil); err == nil {
		t.Error("an id is joined with a key")
	}
}

func TestAnd(t *testing.T) {
	t.Parallel()
	const nothing, failure = "nothing", "an error: "
	for _, c := range []struct{ a, b, want string }{
		{`{}`, `{"types":"bug"}`, `{"types":["bug"]}`},
		{`{"types":["bug","story"]}`, `{"types":["STORY","task"]}`, `{"types":["story"]}`},
		{`{"types":"bug"}`, `{"types":"task"}`, nothing},
		{`{"types":"bug"}`, `{"statuses":"done"}`, `{"statuses":["done"],"types":["bug"]}`},
		{`{"assignee":["me","a","b"]}`, `{"assignee":["me","b","c"]}`, `{"assignee":["me","b"]}`},
		{`{"assignee":["me","a","b"]}`, `{"assignee":["b"]}`, `{"assignee":["b"]}`},
		{`{"assignee":["me"]}`, `{"assignee":["b"]}`, failure + `assignee has "me" in one place and other names in another`},
		{`{"assignee":[null,"a"]}`, `{"assignee":[null]}`, `{"assignee":[null]}`},
		{`{"projects":[3,4]}`, `{"projects":[4,5]}`, `{"projects":[4]}`},
		{`{"projects":["tx"]}`, `{"projects":["TX"]}`, `{"projects":["TX"]}`},
		{`{"projects":[3]}`, `{"projects":["TX"]}`, failure + `projects has ids in one place and keys in another`},
		{`{"projects":[3,"TX"]}`, `{"projects":["TX"]}`, `{"projects":["TX"]}`},
		{`{"open":true}`, `{"types":"bug"}`, `{"open":true,"types":["bug"]}`},
		{`{"types":"bug"}`, `{"open":false}`, `{"open":false,"types":["bug"]}`},
		{`{"open":true}`, `{"open":true}`, `{"open":true}`},
		{`{"open":true}`, `{"open":false}`, nothing},
		{`{"labels":"a"}`, `{"labels":["b","c"]}`, `{"labels":{"any":["b","c"],"all":["a"]}}`},
		{`{"labels":["b","c"]}`, `{"labels":"a"}`, `{"labels":{"any":["b","c"],"all":["a"]}}`},
		{`{"labels":["b","c"]}`, `{"labels":"B"}`, `{"labels":{"any":["B"]}}`},
		{`{"labels":["b","c"]}`, `{"labels":["d","e"]}`, failure + `labels has two lists of alternatives`},
		{`{"labels_all":["b","c"]}`, `{"labels_all":["C","d"]}`, `{"labels":{"all":["b","c","d"]}}`},
		{`{"created":{"from":"2025-01-01"}}`, `{"created":{"from":"2025-01-01T00:00:01Z","to":"2025-02-01"}}`, `{"created":{"from":"2025-01-01T00:00:01Z","to":"2025-02-01"}}`},
		{`{"created":{"to":"2025-01-31"}}`, `{"created":{"to":"2025-02-01T00:00:00Z"}}`, `{"created":{"to":"2025-01-31"}}`},
		{`{"created":{"to":"2025-01-31"}}`, `{"created":{"from":"2025-02-01"}}`, nothing},
		{`{"created":{"to":"2025-01-31"}}`, `{"created":{"from":"2025-01-31"}}`, `{"created":{"from":"2025-01-31","to":"2025-01-31"}}`},
		{`{"not":{"types":"bug"}}`, `{"not":{"types":"task","labels":"a"}}`, `{"not":{"types":["bug","task"],"labels":{"any":["a"]}}}`},
		{`{"not":{"types":"bug"}}`, `{"types":"task"}`, `{"types":["task"],"not":{"types":["bug"]}}`},
		{`{"not":{"labels":"a"}}`, `{"not":{"labels":["A","b"]}}`, `{"not":{"labels":{"any":["a","b"]}}}`},
		{`{"not":{"labels_all":["a","b"]}}`, `{"not":{"types":"bug"}}`, `{"not":{"types":["bug"],"labels":{"all":["a","b"]}}}`},
		{`{"not":{"labels_all":["a","b"]}}`, `{"not":{"labels":"c"}}`, failure + `not.labels has "all" and other labels`},
		{`{"not":{"due":{"to":"2025-01-01"}}}`, `{"not":{"due":{"from":"2025-01-02","to":"2025-01-05"}}}`, `{"not":{"due":{"to":"2025-01-05"}}}`},
		{`{"not":{"due":{"to":"2025-01-01"}}}`, `{"not":{"due":{"from":"2025-01-03"}}}`, failure + `not.due has two ranges with time between them`},
		{`{"not":{"due":{"to":"2025-01-04"}}}`, `{"not":{"due":{"from":"2025-01-03"}}}`, failure + `not.due has two ranges with time between them`},
	} {
		a, _ := decode(c.a)
		b, _ := decode(c.b)
		before := show(a) + show(b)
		joined, err := filter.And(a, b)
		got := show(joined)
		switch {
		case err != nil:
			got = failure + err.Error()
		case joined.Nothing:
			got = nothing
		}
		if got != c.want {
			t.Errorf("%s and %s: %s, not %s", c.a, c.b, got, c.want)
		}
		if show(a)+show(b) != before {
			t.Errorf("%s and %s were changed", c.a, c.b)
		}
	}
}

func TestFolded(t *testing.T) {
	t.Parallel()
	a, _ := decode(`{"types":["Bug","task","BUG"],"projects":[3,"TX",1],"not":{"labels":["B","a"]},"open":true}`)
	b, _ := decode(`{"open":true,"not":{"labels":["a","b","A"]},"projects":["tx",1,3,3],"types":["Task","bug"]}`)
	if show(a.Folded()) != show(b.Folded()) || !strings.Contains(show(a), `"Bug","task","BUG"`) {
		t.Errorf("%s and %s", show(a.Folded()), show(b.Folded()))
	}
	c, _ := decode(`{"types":["É"]}`)
	if show(c.Folded()) != `{"types":["É"]}` {
		t.Errorf("folded is %s", show(c.Folded()))
	}
}

func TestAsksForMe(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"assignee":"noor","types":"me"}`: "", `{"assignee":["noor","ME"]}`: "assignee", `{"reporter":"me"}`: "reporter", `{"not":{"assignee":"me"}}`: "not.assignee",
	} {
		if f, _ := decode(object); f.AsksForMe() != want {
			t.Errorf("%s: %q", object, f.AsksForMe())
		}
	}
}
