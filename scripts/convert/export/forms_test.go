package export

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func on(month, day, hour, minute int) string {
	return fmt.Sprintf("2025-%02d-%02dT%02d:%02d:00Z", month, day, hour, minute)
}

const jiraDetails = `Issue key,Summary,Description,Reporter,Due date,Resolved,Status Category,Components,Components,Labels,Inward issue link (Duplicate),Outward issue link (Blocks),Outward issue link (Blocks),Outward issue link (Gantt: start),Parent key,Comment,Comment,Comment,Sprint,Sprint
A-1,n,"h1. Cause
*Not* {code}a*b*c{code}",Ann,2025-04-01,3/Apr/25 10:00 AM,In Progress,Web,API,web,A-2,A-3,A-4,A-5,A-9,"14/Mar/25 9:30 AM;ann;see; [~bob]","14/Mar/25 9:30 AM;ann;again","{""type"":""doc"",""content"":[{""type"":""paragraph"",""content"":[{""type"":""text"",""text"":""plain""}]}]}",5,6
A-2,m,,,soon,,Nowhere,,,,,,,,10007,,,,,
`

func TestJiraDetails(t *testing.T) {
	t.Parallel()
	r := openCSV(t, jiraDetails)
	got := all(t, r.Tickets())
	at := on(3, 14, 9, 30)
	order := map[string]int{}
	want := []Ticket{
		{Key: "A-1", ProjectKey: "A", Name: "n", Status: "To Do", CreatedAt: on(4, 3, 10, 0), Description: "# Cause\n*Not* `a*b*c`", Category: "in_progress", Reporter: given("Ann"),
			DueDate: given(on(4, 1, 0, 0)), ResolvedAt: given(on(4, 3, 10, 0)), Labels: []string{"web", "API"},
			Comments: []Comment{
				{Key: madeKey(at, "ann", order), Author: "ann", Body: "see; @bob", CreatedAt: at},
				{Key: madeKey(at, "ann", order), Author: "ann", Body: "again", CreatedAt: at},
				{Key: madeKey("", "", order), Body: "plain"},
			},
			Links: []Link{{"duplicates", "A-2", "", true}, {"blocks", "A-3", "", false}, {"blocks", "A-4", "", false}, {"relates_to", "A-5", "", false}, {"child_of", "A-9", "", false}}},
		{Key: "A-2", ProjectKey: "A", Name: "m", Status: "To Do", Reporter: given(""), ResolvedAt: given(""), Labels: []string{}, Comments: []Comment{}, Links: []Link{{"child_of", "", "10007", false}},
			Warnings: []*RowError{{r.tickets[0], 4, "A-2", `Due date is left out: "soon" is not a date`}, {r.tickets[0], 4, "A-2", `Status Category is left out: "Nowhere" is none of to_do, in_progress and done`}}},
	}
	if diff := cmp.Diff(want, got, withoutPlace); diff != "" {
		t.Errorf("tickets (-want +got):\n%s", diff)
	}
	if want := []string{"link type read as relates_to: Gantt: start",
		"tickets without a creation date that can be read: new ones get that of their resolution: 1", "tickets without a creation date that can be read: new ones get the day of the import: 1", "columns left out, with their number of rows: Sprint (1)"}; !cmp.Equal(want, r.Notices()) {
		t.Errorf("notices (-want +got):\n%s", cmp.Diff(want, r.Notices()))
	}
}

// A comment's key survives edits of its text and of other authors' earlier comments.
func TestCommentKeys(t *testing.T) {
	t.Parallel()
	read := func(cells string) (keys []string) {
		for _, c := range one(t, openCSV(t, "Issue key,Summary,Comment,Comment,Comment\nA-1,n,"+cells+"\n").Tickets()).Comments {
			keys = append(keys, c.Key)
		}
		return keys
	}
	first := read("14/Mar/25 9:30 AM;ann;one,14/Mar/25 9:30 AM;bob;two,14/Mar/25 9:30 AM;ann;three")
	if len(first) != 3 || first[0] == first[1] || first[0] == first[2] {
		t.Fatalf("the comments' keys are not distinct: %q", first)
	}
	if again := read("14/Mar/25 9:30 AM;bob;edited,2025-03-14 09:30;ann;edited,"); !cmp.Equal(again, []string{first[1], first[0]}) {
		t.Errorf("the keys were %q, and after edits %q", first, again)
	}
}

const linearExport = `ID,Team,Title,Description,Status,Estimate,Priority,Project ID,Project,Creator,Assignee,Labels,Cycle Number,Created,Updated,Started,Completed,Canceled,Due Date,Parent issue,Related to,Blocked by,Duplicate of
ENG-7,Engine,Pump leaks,At *night*,In Review,3,High,x,Pumps,ann@a.example,bob@a.example,"Bug, Urgent fix",4,Fri Mar 14 2025 09:12:00 GMT+0100 (CET),2025-03-15T13:00:00.000Z,2025-03-15T13:00:00.000Z,,,2025-04-01,ENG-1,"ENG-2, OPS-3",ENG-4,
ENG-8,Engine,Old,,Canceled,,No priority,,,,,,,,,,,2025-03-16T00:00:00.000Z,,,,,ENG-7
`

func TestLinear(t *testing.T) {
	t.Parallel()
	r := openCSV(t, linearExport)
	got := all(t, r.Tickets())
	want := []Ticket{
		{Key: "ENG-7", ProjectKey: "ENG", Name: "Pump leaks", Description: "At *night*", Status: "In Review", Category: "in_progress", CreatedAt: on(3, 14, 8, 12),
			UpdatedAt: on(3, 15, 13, 0), Reporter: given("ann@a.example"), Assignee: given("bob@a.example"), Priority: given("High"), Labels: []string{"Bug", "Urgent fix"},
			DueDate: given(on(4, 1, 0, 0)), ResolvedAt: given(""),
			Links: []Link{{"child_of", "ENG-1", "", false}, {"relates_to", "ENG-2", "", false}, {"relates_to", "OPS-3", "", false}, {"blocks", "ENG-4", "", true}}},
		{Key: "ENG-8", ProjectKey: "ENG", Name: "Old", Status: "Canceled", Category: "done", CreatedAt: on(3, 16, 0, 0), Reporter: given(""), Assignee: given(""), Priority: given(""), Labels: []string{},
			DueDate: given(""), ResolvedAt: given(on(3, 16, 0, 0)), Links: []Link{{"duplicates", "ENG-7", "", false}}},
	}
	if diff := cmp.Diff(want, got, withoutPlace); diff != "" {
		t.Errorf("tickets (-want +got):\n%s", diff)
	}
	if projects := all(t, r.Projects()); !cmp.Equal(projects, []Project{{Key: "ENG", Name: "Engine"}}) {
		t.Errorf("the projects are %+v", projects)
	}
	if want := []string{"tickets without a creation date that can be read: new ones get that of their resolution: 1", "columns left out, with their number of rows: Cycle Number (1), Estimate (1), Project (1), Project ID (1)"}; !cmp.Equal(want, r.Notices()) {
		t.Errorf("the notices are %q", r.Notices())
	}
}

const githubList = `[{"number":7,"title":"Pump leaks","body":"**At** night","state":"CLOSED","stateReason":"NOT_PLANNED","author":{"login":"ann","name":"Ann"},
"assignees":[{"login":"bob"},{"login":"eve"}],"labels":[{"name":"bug"}],"createdAt":"2025-03-14T09:12:00Z","updatedAt":"2025-03-15T13:00:00Z","closedAt":"2025-03-15T13:00:00Z",
"comments":[{"id":"IC_1","author":{"login":"bob"},"body":"Tighten } it","createdAt":"2025-03-14T10:00:00Z"}],"url":"https://github.com/Acme/big.pumps/issues/7"},
{"number":8,"title":"A change","url":"https://github.com/Acme/big.pumps/pull/8"}]
`

const githubPages = `[{"url":"https://api.github.com/repos/Acme/pumps/issues/1","html_url":"https://github.com/Acme/pumps/issues/1","number":1,"title":"One","user":{"login":"ann"},"labels":[],"state":"open",
"assignees":[],"comments":3,"created_at":"2025-03-14T09:12:00Z","closed_at":null,"body":null,"type":{"name":"Bug"}},
{"number":2,"title":"PR","html_url":"https://github.com/Acme/pumps/pull/2","pull_request":{"url":"x"}}][{"number":3,"title":"Three","html_url":"https://github.com/Acme/pumps/issues/3","state":"closed"},
{"number":4,"html_url":"https://github.com/Acme/pumps/issues/4"},{"number":5,"title":"No address"},{"number":"six"},
{"number":9,"title":"Elsewhere","html_url":"https://github.com/Other/Pumps/issues/9"}]
`

func TestGithub(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"list.json.gz": githubList, "pages.json": githubPages, "lines.jsonl": strings.Trim(strings.ReplaceAll(strings.ReplaceAll(githubList, "\n", ""), "},{\"number\":8", "}\n{\"number\":8"), "[]"),
		"cut.json": githubList[:len(githubList)-3], "none.json": "[]", "other.json": `{"a":1}`})
	issue := Ticket{Key: "BIG-PUMPS-7", ProjectKey: "BIG-PUMPS", Name: "Pump leaks", Description: "**At** night", Status: "Not planned", Category: "done", CreatedAt: on(3, 14, 9, 12),
		UpdatedAt: on(3, 15, 13, 0), ResolvedAt: given(on(3, 15, 13, 0)), Reporter: given("ann"), Assignee: given("bob"), Labels: []string{"bug"}, URL: "https://github.com/Acme/big.pumps/issues/7",
		Comments: []Comment{{Key: "IC_1", Author: "bob", Body: "Tighten } it", CreatedAt: on(3, 14, 10, 0)}}}
	for _, name := range []string{"list.json.gz", "lines.jsonl"} {
		r := open(t, filepath.Join(folder, name))
		if diff := cmp.Diff(issue, one(t, r.Tickets()), withoutPlace); diff != "" {
			t.Errorf("%s: ticket (-want +got):\n%s", name, diff)
		}
		if got := one(t, r.Projects()); got != (Project{Key: "BIG-PUMPS", Name: "Acme/big.pumps", Origin: "github.com/acme/big.pumps"}) {
			t.Errorf("%s: the project is %+v", name, got)
		}
		if want := []string{"issues with several assignees, reduced to the first: 1", "keys changed so that queries can name them, such as BIG.PUMPS-N to BIG-PUMPS-N: 1", "pull requests left out: 1"}; !cmp.Equal(want, r.Notices()) {
			t.Errorf("%s: the notices are %q", name, r.Notices())
		}
	}
	r := open(t, filepath.Join(folder, "pages.json"))
	good, bad, fatal := collect(t, r.Tickets())
	if want := "comments that the API does not return with issues (gh issue list --json comments,… does): 3"; !slices.Contains(r.Notices(), want) {
		t.Errorf("the notices are %q", r.Notices())
	}
	if fatal != nil {
		t.Fatal(fatal)
	}
	want := []Ticket{
		{Key: "PUMPS-1", ProjectKey: "PUMPS", Name: "One", Status: "Open", Category: "to_do", CreatedAt: on(3, 14, 9, 12), ResolvedAt: given(""), Reporter: given("ann"), Assignee: given(""), TicketType: given("Bug"), Labels: []string{}, URL: "https://github.com/Acme/pumps/issues/1"},
		{Key: "PUMPS-3", ProjectKey: "PUMPS", Name: "Three", Status: "Closed", Category: "done", URL: "https://github.com/Acme/pumps/issues/3"},
	}
	if diff := cmp.Diff(want, good, withoutPlace); diff != "" {
		t.Errorf("tickets (-want +got):\n%s", diff)
	}
	if want := []string{"title is missing", "url is missing or not an address: it tells the repository (gh issue list --json url,…)", "number is missing",
		"github.com/Acme/pumps and github.com/Other/Pumps would have the same project key PUMPS: import each from a file of its own, with a prefix"}; !cmp.Equal(want, reasons(bad)) {
		t.Errorf("reasons of bad rows (-want +got):\n%s", cmp.Diff(want, reasons(bad)))
	}
	if bad[0].Line != 4 || bad[3].Line != 7 {
		t.Errorf("bad rows are not issues 4 and 7: %v", bad)
	}
	if good, _, fatal := collect(t, open(t, filepath.Join(folder, "cut.json")).Tickets()); len(good) != 1 || fatal == nil || !strings.Contains(fatal.Error(), "unexpected EOF") {
		t.Errorf("a truncated file returned %v, %v", good, fatal)
	}
	if got := all(t, open(t, filepath.Join(folder, "none.json")).Tickets()); len(got) != 0 {
		t.Errorf("an empty list returned %v", got)
	}
	if _, err := Open(filepath.Join(folder, "other.json")); err == nil || !strings.Contains(err.Error(), "not an export of issues") {
		t.Errorf("the error for another format is %v", err)
	}
}

func TestJSONDetails(t *testing.T) {
	t.Parallel()
	got := all(t, openTickets(t, `{"ticket_id":"S-1","project_id":"S","name":"n","assignee":"Ann","reporter":null,"ticket_type":"Bug","priority":"","labels":["a","A"," ","b"],"due_date":"2025-04-01",`+
		`"resolved_at":null,"updated_at":"2025-03-15T13:00:00Z","status_category":"in_progress","comments":[{"key":"c1","author":"Bob","body":{"type":"doc","content":[{"type":"text","text":"*x*"}]},"created_at":"2025-03-14T09:30:00Z"},`+
		`{"key":9,"body":"*y*"},{"body":" "}],"links":[{"kind":"duplicated_by","key":"S-2"},{"kind":"blocks","key":3}] }`+"\n"+
		`{"ticket_id":"S-2","project_id":"S","name":"n","comments":null,"links":[],"labels":null}`+"\n"+
		`{"ticket_id":"S-3","project_id":"S","name":"n","links":[{"kind":"likes","key":"S-1"},{"kind":"blocks"},{"kind":"relates_to","source_id":77},{"kind":"Child_Of","key":"S-2","inward":true}],"assignee":7}`).Tickets())
	want := []Ticket{
		{Key: "S-1", ProjectKey: "S", Name: "n", Status: "To Do", Category: "in_progress", CreatedAt: on(3, 15, 13, 0), UpdatedAt: on(3, 15, 13, 0), Assignee: given("Ann"), Reporter: given(""), TicketType: given("Bug"), Priority: given(""),
			Labels: []string{"a", "b"}, DueDate: given(on(4, 1, 0, 0)), ResolvedAt: given(""),
			Comments: []Comment{{Key: "c1", Author: "Bob", Body: "*x*", CreatedAt: on(3, 14, 9, 30)}, {Key: "9", Body: "*y*"}},
			Links:    []Link{{"duplicates", "S-2", "", true}, {"blocks", "S-3", "", false}}},
		{Key: "S-2", ProjectKey: "S", Name: "n", Status: "To Do", Labels: []string{}, Comments: []Comment{}, Links: []Link{}},
		{Key: "S-3", ProjectKey: "S", Name: "n", Status: "To Do", Assignee: given("7"), Links: []Link{{"relates_to", "", "77", false}, {"child_of", "S-2", "", true}}},
	}
	if diff := cmp.Diff([][]string{
		nil, nil, {"links left out because they have an unknown kind or no key: 2"},
	}, [][]string{reasons(got[0].Warnings), reasons(got[1].Warnings), reasons(got[2].Warnings)}); diff != "" {
		t.Errorf("reasons of warnings (-want +got):\n%s", diff)
	}
	for i := range got {
		got[i].Warnings = nil
	}
	if diff := cmp.Diff(want, got, withoutPlace); diff != "" {
		t.Errorf("tickets (-want +got):\n%s", diff)
	}
}
