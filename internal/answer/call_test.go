package answer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/answer"
	"tasklens/internal/testbed"
)

// offered are the choices of a property of the tool, or of the items of one.
func offered(path ...string) []string {
	schema := answer.Tool.JSON
	for _, name := range path {
		schema = schema["properties"].(map[string]any)[name].(map[string]any)
		if items, is := schema["items"].(map[string]any); is {
			schema = items
		}
	}
	values, _ := schema["enum"].([]string)
	return values
}

// The tool offers all that tickets can be filtered and counted by in the database, and nothing
// else.
func TestToolHasTheMembers(t *testing.T) {
	t.Parallel()
	conn := testbed.Connect(t, testbed.Database(t).OwnerURL)
	rows, err := conn.Query(t.Context(), "select member, kind, facet from tasklens.ticket_members")
	if err != nil {
		t.Fatal(err)
	}
	type member struct {
		Member, Kind string
		Facet        *string
	}
	members, err := pgx.CollectRows(rows, pgx.RowToStructByPos[member])
	if err != nil {
		t.Fatal(err)
	}
	var names, dates []string
	groups := []string{""}
	for _, m := range members {
		switch {
		case m.Kind == "open":
			groups = append(groups, *m.Facet)
		case m.Facet == nil:
			dates, groups = append(dates, m.Member), append(groups, m.Member)
		default:
			names, groups = append(names, *m.Facet), append(groups, *m.Facet)
		}
	}
	for want, got := range map[*[]string][]string{
		&names: offered("filters", "field"), &dates: offered("dates", "field"), &groups: offered("group_by"),
	} {
		if !slices.Equal(slices.Sorted(slices.Values(*want)), slices.Sorted(slices.Values(got))) {
			t.Errorf("the tool offers %q, the database has %q", got, *want)
		}
	}
	for _, sort := range offered("sort") {
		if _, err := conn.Exec(t.Context(), "select from public.count_tickets(sort => $1)", sort); err != nil {
			t.Errorf("sort %s: %v", sort, err)
		}
	}
	for _, period := range offered("period") {
		if _, err := conn.Exec(t.Context(), "select from public.count_tickets(group_by => 'created', period => $1)", period); err != nil {
			t.Errorf("period %s: %v", period, err)
		}
	}
}

// call are the arguments of a call, with these parts in place of the usual ones.
func call(parts ...string) string {
	members := map[string]string{"action": `"count"`, "state": `"any"`, "group_by": `""`, "period": `"month"`, "sort": `"created"`,
		"ascending": "false", "limit": "0", "words": "[]", "filters": "[]", "dates": "[]"}
	for i := 0; i < len(parts); i += 2 {
		members[parts[i]] = parts[i+1]
	}
	var list []string
	for name, value := range members {
		list = append(list, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(list, ",") + "}"
}

// A call is read as the filters of a search, in the days of a time zone.
func TestRead(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	many := strings.TrimSuffix(strings.Repeat(`"a",`, 21), ",")
	for arguments, want := range map[string]string{
		call("filters", `[{"field":"type","values":["bug","task"],"not":false},{"field":"assignee","values":["me",""],"not":false}]`): `no:assignee assignee:me type:bug,task`,
		call("filters", `[{"field":"label","values":["a"],"not":false},{"field":"label","values":["b"],"not":false}]`):                `label:a label:b`,
		call("filters", `[{"field":"status","values":["Done"],"not":true}]`, "state", `"open"`):                                       `is:open -status:Done`,
		call("filters", `[{"field":"project","values":[""],"not":false}]`):                                                            ``,
		call("dates", `[{"field":"created","from":"2025-03-30","to":"2025-03-30"}]`):                                                  `created:2025-03-30T00:00:00+01:00..2025-03-31T00:00:00+02:00`,
		call("dates", `[{"field":"due","from":"","to":"2025-03-30"}]`):                                                                `due:..2025-03-30`,
		call("dates", `[{"field":"created","from":"soon","to":""}]`):                                                                  `created:soon..`, // the database refuses it
		call("words", `["log \"in\"", " ", "sso"]`):                                                                                   `"log  in" "sso"`,
		call("action", `"group"`):        `! group_by ""`,
		call("action", `"delete"`):       `! action "delete"`,
		call("group_by", `"sprint"`):     `! group_by "sprint"`,
		call("sort", `"votes"`):          `! sort "votes"`,
		call("period", `"hour"`):         `! period "hour"`,
		call("state", `"deleted"`):       `! state "deleted"`,
		call("words", `[`+many+`]`):      `! a call that cannot be read`,
		call("limit", `"ten"`):           `! a call that cannot be read`,
		call("words", `["caf\u0000e9"]`): `! a call that cannot be read`,
		call("filters", `[{"field":"label","values":["a","\u0000"],"not":false}]`): `! a call that cannot be read`,
		call("dates", `[{"field":"due","from":"\u0000","to":""}]`):                 `! a call that cannot be read`,
		`{"action":"count"`: `! a call that cannot be read`,
		`{}`:                `! `,
		call("filters", `[{"field":"sprint","values":["14"],"not":false}]`):                                                 `! sprint 14`,
		call("filters", `[{"field":"created","values":["2025"],"not":false}]`):                                              `! created 2025`,
		call("dates", `[{"field":"type","from":"2025-01-01","to":""}]`):                                                     `! type 2025-01-01..`,
		call("dates", `[{"field":"due","from":"","to":"2025-03-30"},{"field":"due","from":"2025-03-30","to":""}]`):          `! due 2025-03-30..`,
		call("filters", `[`+strings.TrimSuffix(strings.Repeat(`{"field":"type","values":["x"],"not":true},`, 51), ",")+`]`): `! a call that cannot be read`,
	} {
		r, err := answer.ReadCall(arguments, berlin)
		got := strings.TrimSpace(r.Filters.String() + " " + r.Text)
		if err != nil {
			got = "! " + err.Error()
		}
		if got != want && !(want == "! " && err != nil) {
			t.Errorf("%.120s is read as %q, want %q", arguments, got, want)
		}
	}
}

// A call lists no more tickets than an answer has, so that its reading can be sent back.
func TestLimitOfACall(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]int{"1000": 20, "-1": 0, "7": 7} {
		if r, err := answer.ReadCall(call("limit", limit), time.UTC); err != nil || r.Limit != want {
			t.Errorf("limit %s is read as %d, want %d (%v)", limit, r.Limit, want, err)
		}
	}
}
