package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var noon = on(3, 14, 12, 0)

func TestJSONTicketForms(t *testing.T) {
	t.Parallel()
	plain := Ticket{Key: "S-1", ProjectKey: "S", Name: "n", Status: "To Do"}
	with := func(change func(*Ticket)) Ticket {
		t := plain
		change(&t)
		return t
	}
	for name, c := range map[string]struct {
		line string
		want Ticket
	}{
		"required fields only": {`{"ticket_id":"S-1","project_id":"S","name":"n"}`, plain},
		"null fields":          {`{"ticket_id":"S-1","project_id":"S","name":"n","description":null,"status":null,"created_at":null,"notes":null}`, plain},
		"all fields": {
			`{"ticket_id":"S-1","project_id":"S","name":"n","description":" d\n","status":"Done","created_at":"2025-03-14T12:00:00Z",
			"notes":[{"status":"Done","note":"x","created_at":"2025-03-14T12:00:00Z"},{"note":"y"}]}`,
			Ticket{Key: "S-1", ProjectKey: "S", Name: "n", Description: " d\n", Status: "Done", CreatedAt: noon,
				Notes: []Note{{Status: "Done", Text: "x", CreatedAt: noon}, {Text: "y"}}},
		},
		"numbers as ids":             {`{"ticket_id":5,"project_id":12345678901234567890,"name":"n"}`, with(func(t *Ticket) { t.Key, t.ProjectKey = "12345678901234567890-5", "12345678901234567890" })},
		"unknown fields":             {`{"ticket_id":"S-1","project_id":"S","name":"n","watchers":[1],"points":{"a":2}}`, plain},
		"surrounding spaces":         {` {"ticket_id":" S-1 ","project_id":"S\t","name":"\n n ","status":" To Do "}  `, plain},
		"empty status":               {`{"ticket_id":"S-1","project_id":"S","name":"n","status":" "}`, plain},
		"escaped key":                {`{"ticket_id":"S\u002d1","project_id":"S","name":"n"}`, plain},
		"key with 255 characters":    {`{"ticket_id":"` + strings.Repeat("é", 253) + `-1","project_id":"S","name":"n"}`, with(func(t *Ticket) { t.Key = strings.Repeat("é", 253) + "-1" })},
		"status with 100 characters": {`{"ticket_id":"S-1","project_id":"S","name":"n","status":"` + strings.Repeat("é", 100) + `"}`, with(func(t *Ticket) { t.Status = strings.Repeat("é", 100) })},
		"name with 1,000 characters": {`{"ticket_id":"S-1","project_id":"S","name":"` + strings.Repeat("é", 1000) + `"}`, with(func(t *Ticket) { t.Name = strings.Repeat("é", 1000) })},
		"CRLF":                       {"{\"ticket_id\":\"S-1\",\"project_id\":\"S\",\"name\":\"n\"}\r", plain},
		"byte order mark":            {"\uFEFF" + `{"ticket_id":"S-1","project_id":"S","name":"n"}`, plain},
		"no line feed at end":        {"\n\r\n \t\n" + `{"ticket_id":"S-1","project_id":"S","name":"n"}`, plain},
		"empty notes, no date":       {`{"ticket_id":"S-1","project_id":"S","name":"n","created_at":"","notes":[]}`, plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := one(t, openTickets(t, strings.ReplaceAll(c.line, "\n\t\t\t", " ")).Tickets())
			if diff := cmp.Diff(c.want, got, withoutPlace); diff != "" {
				t.Errorf("ticket (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONWarnings(t *testing.T) {
	t.Parallel()
	got := one(t, openTickets(t, "\n"+`{"ticket_id":"S-1","project_id":"S","name":"n","created_at":"soon","notes":[`+
		`{"note":"a","created_at":"soon"},{"note":" "},{"status":"Done"},{"note":"b","created_at":"2025-03-14"}]}`).Tickets())
	if want := []string{
		`created_at is left out: "soon" is not a date`,
		"notes.created_at is not a clear date, so that the ticket's counts: 1",
	}; !cmp.Equal(want, reasons(got.Warnings)) {
		t.Errorf("reasons of warnings (-want +got):\n%s", cmp.Diff(want, reasons(got.Warnings)))
	}
	for _, w := range got.Warnings {
		if w.Line != 2 || !strings.HasSuffix(w.File, "tickets.jsonl") {
			t.Errorf("the warning is for %s:%d, want tickets.jsonl:2", w.File, w.Line)
		}
	}
	if want := []Note{{Text: "a"}, {Text: "b", CreatedAt: on(3, 14, 0, 0)}}; !cmp.Equal(want, got.Notes) {
		t.Errorf("notes (-want +got):\n%s", cmp.Diff(want, got.Notes))
	}
}

// A comment or note that is a text alone is one, and a member that no ticket has is named, or kept.
func TestJSONLooseForms(t *testing.T) {
	t.Parallel()
	r := openTickets(t, `{"ticket_id":"S-1","project_id":"S","name":"n","comments":["a",{"body":"b"},null],"notes":["c"],"asignee":"Ann","team":{"name":"Blue"},"points":null,"public":true}`)
	r.Keep(Kept{Labels: []string{"Team"}})
	got := one(t, r.Tickets())
	if len(got.Comments) != 2 || got.Comments[0].Body != "a" || got.Comments[1].Body != "b" || !cmp.Equal(got.Notes, []Note{{Text: "c"}}) || !cmp.Equal(got.Labels, []string{"team: Blue"}) {
		t.Errorf("%+v", got)
	}
	if !slices.Contains(r.Notices(), "columns left out, with their number of rows: asignee (1)") {
		t.Errorf("the notices are %q", r.Notices())
	}
}

// What is longer than the tables allow is cut, and the row is named.
func TestLongNamesAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1001)
	r := openTickets(t, "\n"+strings.ReplaceAll(`{"ticket_id":"S-1","project_id":"S","name":"LONG","status":"LONG","assignee":"LONG","reporter":"LONG","ticket_type":"LONG","priority":"LONG","labels":["wet","LONG","LONGER"],"notes":[{"note":"x","status":"LONG"}],"comments":[{"key":"1","author":"LONG","body":"b"}]}`, "LONG", long))
	got := one(t, r.Tickets())
	want := []string{"assignee: 1", "comments.author: 1", "labels: 2", "name: 1", "notes.status: 1", "priority: 1", "reporter: 1", "status: 1", "ticket_type: 1"}
	var cut []string
	for _, reason := range reasons(got.Warnings) {
		before, after, is := strings.Cut(reason, " cut to ")
		if !is {
			t.Errorf("another warning: %s", reason)
		}
		cut = append(cut, before+after[strings.Index(after, "characters")+len("characters"):]) // with the count, if any
	}
	slices.Sort(cut)
	if diff := cmp.Diff(want, cut); diff != "" || got.Warnings[0].Line != 2 || got.Warnings[0].Key != "S-1" {
		t.Errorf("cut (-want +got):\n%s %v", diff, got.Warnings[0])
	}
	most := strings.Repeat("é", 1000)
	if got.Name != most || got.Assignee.Value != most || got.Priority.Value != most || got.Comments[0].Author != most ||
		got.Status != most[:200] || got.Notes[0].Status != most[:200] || !cmp.Equal(got.Labels, []string{"wet", most}) {
		t.Errorf("%+v", got)
	}
}

// A field of another form costs that field alone, and is named.
func TestJSONBadFields(t *testing.T) {
	t.Parallel()
	for members, c := range map[string]struct {
		want   Ticket
		reason string
	}{
		`"description":{"type":"code"}`:   {Ticket{}, `description must be a text, not "{\"type\":\"code\"}": it is left out`},
		`"status":false`:                  {Ticket{}, `status must be a text, not "false": it is left out`},
		`"assignee":[1]`:                  {Ticket{}, `assignee must be a text, not "[1]": it is left out`},
		`"due_date":[]`:                   {Ticket{}, `due_date must be a text, not "[]": it is left out`},
		`"labels":"x"`:                    {Ticket{}, `labels must be a list, not "\"x\"": it is left out`},
		`"notes":"x"`:                     {Ticket{}, `notes must be a list, not "\"x\"": it is left out`},
		`"comments":1`:                    {Ticket{}, `comments must be a list, not "1": it is left out`},
		`"links":{}`:                      {Ticket{}, `links must be a list, not "{}": it is left out`},
		`"description":"a\ud83d \u0000b"`: {Ticket{Description: "a� �b"}, `texts have U+FFFD in place of the escapes \u0000 or \ud83d, half of a character`},
		`"description":"\\u0000 \\ud83d \ud83d\ude00"`: {Ticket{Description: `\u0000 \ud83d 😀`}, ""},
	} {
		c.want.Key, c.want.ProjectKey, c.want.Name, c.want.Status = "S-1", "S", "n", orDefault(c.want.Status)
		got := one(t, openTickets(t, `{"ticket_id":"S-1","project_id":"S","name":"n",`+members+`}`).Tickets())
		if reason := strings.Join(reasons(got.Warnings), "; "); reason != c.reason {
			t.Errorf("%.80s: the reason is %q, want %q", members, reason, c.reason)
		}
		got.Warnings = nil
		if diff := cmp.Diff(c.want, got, withoutPlace); diff != "" {
			t.Errorf("%.80s: ticket (-want +got):\n%s", members, diff)
		}
	}
}

func TestJSONBadRows(t *testing.T) {
	t.Parallel()
	const rest = `"project_id":"S","name":"n"}`
	cases := []struct{ line, reason string }{
		{`{` + rest, "ticket_id is missing"},
		{`{"ticket_id":null,` + rest, "ticket_id is missing"},
		{`{"ticket_id":" ",` + rest, "ticket_id is missing"},
		{`{"ticket_id":"a\u001bb",` + rest, `ticket_id "a\x1bb" has a control character in it`},
		{`{"ticket_id":true,` + rest, `ticket_id must be a text, not "true"`},
		{`{"ticket_id":["S-1"],` + rest, `ticket_id must be a text, not "[\"S-1\"]"`},
		{`{"ticket_id":"S-1","name":"n"}`, "project_id is missing"},
		{`{"ticket_id":"S-1","project_id":{},"name":"n"}`, `project_id must be a text, not "{}"`},
		{`{"ticket_id":"S-1","project_id":"S"}`, "name is missing"},
		{`{"ticket_id":"S-1","project_id":"S","name":" \n"}`, "name is missing"},
		{`{"ticket_id":"S\u0000-1",` + rest, `ticket_id "S�-1" has a control character in it`},
		{`null`, `this is not a JSON object: it starts with "null"`},
		{`[1]`, `this is not a JSON object: it starts with "[1]"`},
		{`{"ticket_id":"S-1"`, "this is not a JSON object: unexpected end of JSON input"},
		{`{} {}`, "this is not a JSON object: invalid character '{' after top-level value"},
	}
	// Each bad row comes after a blank line and before a good row, so bad row i is on line 3i+2.
	var file strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&file, "\n%s\n{\"ticket_id\":\"S-1\",%s\n", c.line, rest)
	}
	good, bad, fatal := collect(t, openTickets(t, file.String()).Tickets())
	if fatal != nil {
		t.Fatal(fatal)
	}
	if len(good) != len(cases) || len(bad) != len(cases) {
		t.Fatalf("got %d good and %d bad rows, want %d of each: %q", len(good), len(bad), len(cases), reasons(bad))
	}
	for i, c := range cases {
		if bad[i].Reason != c.reason {
			t.Errorf("%.80s: the reason is %q, want %q", c.line, bad[i].Reason, c.reason)
		}
		if want := 3*i + 2; bad[i].Line != want {
			t.Errorf("%.80s: the line is %d, want %d", c.line, bad[i].Line, want)
		}
	}
}

func orDefault(status string) string {
	if status == "" {
		return DefaultStatus
	}
	return status
}

func TestJSONProjects(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"tickets.jsonl": "", "projects.jsonl": strings.Join([]string{
		`{"project_id":"S","name":" Shop ","description":"d","extra":1}`,
		`{"project_id":7,"name":"Seven"}`,
		`{"name":"n"}`,
		`{"project_id":"x"}`,
		`{"project_id":"x","name":[]}`,
		`{"project_id":"S","name":"again"}`,
	}, "\n")})
	good, bad, fatal := collect(t, open(t, folder).Projects())
	if fatal != nil {
		t.Fatal(fatal)
	}
	if want := []Project{{Key: "S", Name: "Shop", Description: "d"}, {Key: "7", Name: "Seven"}, {Key: "S", Name: "again"}}; !cmp.Equal(want, good) {
		t.Errorf("projects (-want +got):\n%s", cmp.Diff(want, good))
	}
	file := folder + "/projects.jsonl"
	if want := []*RowError{
		{File: file, Line: 3, Reason: "project_id is missing"},
		{File: file, Line: 4, Reason: "name is missing"},
		{File: file, Line: 5, Reason: "name is missing"},
	}; !cmp.Equal(want, bad) {
		t.Errorf("bad rows (-want +got):\n%s", cmp.Diff(want, bad))
	}
	if got, want := bad[0].Error(), file+":3: project_id is missing"; got != want {
		t.Errorf("the error is %q, want %q", got, want)
	}
}
