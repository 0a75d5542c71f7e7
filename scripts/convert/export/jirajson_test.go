package export

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const lena, tom = "5b10a2844c20165700ede21f", "557058:f58131cb-b67d-43c7-b30d-6b58d40bd077"

// An issue of Jira's REST API, version 3 with documents or 2 with markup.
var jiraIssue = `{"id":"10001","self":"https://acme.atlassian.net/rest/api/3/issue/10001","key":"PUMP-7","fields":{
 "summary":"Pump leaks","project":{"id":"1","key":"PUMP","name":"Pumps"},"issuetype":{"name":"Bug","subtask":false},
 "description":{"type":"doc","version":1,"content":[{"type":"paragraph","content":[{"type":"text","text":"Ask "},{"type":"mention","attrs":{"id":"` + lena + `"}}]}]},
 "status":{"name":"In Review","statusCategory":{"id":4,"key":"indeterminate","name":"In Progress"}},"priority":{"name":"High"},
 "assignee":{"accountId":"` + lena + `","displayName":"Lena Roth"},"reporter":{"name":"tom","displayName":"Tom Ash"},
 "created":"2025-03-14T09:12:00.000+0000","updated":"2025-03-15T13:00:00.000+0000","resolutiondate":null,"duedate":"2025-04-01","resolution":{"name":"Won't Fix"},
 "labels":["wet"],"components":[{"name":"Motor"}],"fixVersions":[{"name":"2.1"},{"name":"3.0"}],"versions":[{"name":"2.0"}],"environment":"Linux {{x}}",
 "customfield_10016":3.5,"customfield_10020":[{"id":1,"name":"Sprint 4"}],"votes":{"votes":0},"customfield_1":null,"parent":{"key":"PUMP-1"},
 "comment":{"total":3,"comments":[{"id":"501","author":{"accountId":"` + lena + `","displayName":"Lena Roth"},"body":"See [~tom] at [^a.log]","created":"2025-03-14T10:00:00.000+0000","updated":"2025-03-14T10:00:00.000+0000"},
  {"id":"502","author":{"name":"tom","displayName":"Tom Ash"},"body":{"type":"doc","content":[{"type":"codeBlock","attrs":{"language":"go"},"content":[{"type":"text","text":"x"}]}]},"created":"2025-03-14T11:00:00.000+0000"}]},
 "issuelinks":[{"type":{"name":"Blocks"},"outwardIssue":{"key":"PUMP-8"}},{"type":{"name":"Duplicate"},"inwardIssue":{"key":"PUMP-9"}}]}}`

func readJira() Ticket {
	return Ticket{Key: "PUMP-7", ProjectKey: "PUMP", Name: "Pump leaks", Status: "In Review", Category: "in_progress", TicketType: given("Bug"), Priority: given("High"),
		Description: "Ask @Lena Roth\n\nEnvironment: Linux `x`\nFix versions: 2.1, 3.0\nResolution: Won't Fix\nAffects versions: 2.0",
		Assignee:    given("Lena Roth"), Reporter: given("Tom Ash"), CreatedAt: on(3, 14, 9, 12), UpdatedAt: on(3, 15, 13, 0), ResolvedAt: given(""), DueDate: given(on(4, 1, 0, 0)),
		Labels: []string{"wet", "Motor"}, SourceID: "10001", URL: "https://acme.atlassian.net/browse/PUMP-7",
		Comments: []Comment{{Key: "501", Author: "Lena Roth", Body: "See @Tom Ash at a.log", CreatedAt: on(3, 14, 10, 0), UpdatedAt: on(3, 14, 10, 0)},
			{Key: "502", Author: "Tom Ash", Body: "```go\nx\n```", CreatedAt: on(3, 14, 11, 0)}},
		Links: []Link{{"blocks", "PUMP-8", "", false}, {"duplicates", "PUMP-9", "", true}, {"child_of", "PUMP-1", "", false}}}
}

// Jira's JSON is read as one issue, a page of a search, a list of either, or a folder of files.
func TestJiraJSON(t *testing.T) {
	t.Parallel()
	page := `{"expand":"names","startAt":0,"total":1,"issues":[` + jiraIssue + `]}`
	folder := t.TempDir()
	write(t, folder, map[string]string{"issue.json": jiraIssue, "page.json": page, "list.json": "[" + jiraIssue + "]", "pages.json": "[" + page + "," + page + "]", "two.ndjson.gz": page + "\n" + page,
		"empty.json": `{"issues":[],"total":0}`})
	for name, count := range map[string]int{"issue.json": 1, "page.json": 1, "list.json": 1, "pages.json": 2, "two.ndjson.gz": 2, "empty.json": 0, "": 7} {
		r := open(t, filepath.Join(folder, name))
		projects := all(t, r.Projects()) // which also reads the names of all people
		if r.Format() != "jira" || count > 0 && !cmp.Equal(projects, []Project{{Key: "PUMP", Name: "Pumps"}}) {
			t.Errorf("%s: %s of %v", name, r.Format(), projects)
		}
		got := all(t, r.Tickets())
		if len(got) != count {
			t.Fatalf("%s: %d tickets", name, len(got))
		}
		for _, ticket := range got {
			if diff := cmp.Diff(readJira(), ticket, withoutPlace); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		want := []string{fmt.Sprintf("the files are incomplete: they lack %d comments, since Jira returns only some of them in a search", count),
			fmt.Sprintf("columns left out, with their number of rows: customfield_10016 (%d), customfield_10020 (%[1]d), votes (%[1]d)", count)}
		if count > 0 && !cmp.Equal(want, r.Notices()) {
			t.Errorf("%s: notices %q", name, r.Notices())
		}
	}
}

func TestJiraJSONBadIssues(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"x.json": `{"names":{"customfield_1":"Story points"},"issues":[{"key":"A-1","fields":{"summary":"a","status":"Open"}},{"key":"A-2","fields":{"status":"Open"}},{"key":"A-3"},7,
		{"key":"A-4","fields":{"summary":"d","customfield_1":5,"labels":null,"comment":null,"parent":{"id":"10001"},"issuelinks":[{"type":{"name":"Blocks"},"outwardIssue":{"id":"10002"}}]}}]}`})
	r := open(t, filepath.Join(folder, "x.json"))
	r.Keep(Kept{Labels: []string{"story POINTS"}})
	good, bad, fatal := collect(t, r.Tickets())
	if want := []Ticket{{Key: "A-1", ProjectKey: "A", Name: "a", Status: "Open"}, {Key: "A-4", ProjectKey: "A", Name: "d", Status: "To Do", Labels: []string{"Story points: 5"}, Comments: []Comment{}, Links: []Link{{"blocks", "", "10002", false}, {"child_of", "", "10001", false}}}}; fatal != nil || !cmp.Equal(want, good, withoutPlace) {
		t.Errorf("%v (-want +got):\n%s", fatal, cmp.Diff(want, good, withoutPlace))
	}
	if want := []string{"Summary is missing", `this is not a JSON object: it starts with "7"`, "1 issues have no fields, but an id or a key only: ask Jira for fields=*all, since its search leaves them out otherwise"}; !cmp.Equal(want, reasons(bad)) || bad[0].Key != "A-2" || bad[1].Line != 4 {
		t.Errorf("reasons of bad rows: %q", reasons(bad))
	}
}

// Jira caps an export: several files, also in a folder, are one import.
func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{
		"a.csv":   "Issue key,Summary,Assignee,Assignee Id,Comment\nA-1,one,Lena Roth," + lena + ",14/Mar/25 9:30 AM;" + tom + ";ask [~accountid:" + tom + "]\n",
		"b.csv":   "Summary,Issue key,Watchers,Watchers,Watchers Id,Watchers Id,Comment,Comment\ntwo,A-2,Ann,Tom Ash,1," + tom + ",14/Mar/25 9:30 AM;" + lena + ";yes,14/Mar/25 9:31 AM;5b10a2844c20165700ede999;no\n,A-3,,,,,,\n",
		"read.me": "not an export",
	})
	for _, paths := range [][]string{{folder}, {filepath.Join(folder, "a.csv"), filepath.Join(folder, "b.csv")}} {
		r, err := Open(paths...)
		if err != nil {
			t.Fatal(err)
		}
		r.Restricted = Keep
		if got := all(t, r.Projects()); len(got) != 1 {
			t.Errorf("the projects are %v", got)
		}
		good, bad, fatal := collect(t, r.Tickets())
		if fatal != nil || len(good) != 2 || len(bad) != 1 || filepath.Base(bad[0].File) != "b.csv" || bad[0].Line != 3 || bad[0].Key != "A-3" {
			t.Fatalf("read %v, %v, %v", good, bad, fatal)
		}
		var said []string
		for _, ticket := range good {
			for _, c := range ticket.Comments {
				said = append(said, c.Author+": "+c.Body)
			}
		}
		if want := []string{"Tom Ash: ask @Tom Ash", "Lena Roth: yes", "5b10a2844c20165700ede999: no"}; !cmp.Equal(want, said) {
			t.Errorf("the comments are %q", said)
		}
		if key := good[0].Comments[0].Key; key != madeKey(on(3, 14, 9, 30), tom, map[string]int{}) {
			t.Error("a comment's key depends on what the files say of its author")
		}
		if want := []string{"comments whose author has only an id in the files: 1", "tickets without a creation date that can be read: new ones get the day of the import: 2",
			"columns left out, with their number of rows: Watchers (1)"}; !cmp.Equal(want, r.Notices()) {
			t.Errorf("the notices are %q", r.Notices())
		}
		if r.Len() != 2 {
			t.Errorf("%d good tickets are found", r.Len())
		}
	}
	write(t, folder, map[string]string{"c.csv": linearExport})
	if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), "c.csv is of the format linear, the files before it of jira") {
		t.Errorf("two formats in a folder: %v", err)
	}
	lines := t.TempDir()
	write(t, lines, map[string]string{"projects.jsonl": oneProject, "tickets.jsonl": oneTicket})
	if _, err := Open(filepath.Join(folder, "a.csv"), lines); err == nil || !strings.Contains(err.Error(), "one after the other") {
		t.Errorf("JSON Lines and an export: %v", err)
	}
	if r, err := Open(lines, lines); err != nil || len(all(t, r.Tickets())) != 2 {
		t.Errorf("two folders of JSON Lines: %v", err)
	}
}

// What has no field is kept as text or as labels, or counted.
func TestKeptColumns(t *testing.T) {
	t.Parallel()
	const file = "Issue key,Summary,Description,Resolution,Fix Version/s,Fix Version/s,Affects Version/s,Environment,Component/s,Custom field (Story Points),Sprint\n" +
		"A-1,n,d,Fixed,1.0,1.1,0.9,\"Linux\n{{x}}\",Web,3,\nA-2,n,,,,,,,,,\n"
	for _, c := range []struct {
		kept   *Kept
		text   string
		labels []string
		left   string
	}{
		{nil, "d\n\nResolution: Fixed\nFix Version/s: 1.0, 1.1\nAffects Version/s: 0.9\nEnvironment: Linux\n`x`", []string{"Web"}, "Story Points) (1)"},
		{&Kept{Labels: []string{"fix versions", "Resolution"}, Text: []string{"story points"}}, "d\n\nStory Points: 3", []string{"Web", "Resolution: Fixed", "Fix Version/s: 1.0", "Fix Version/s: 1.1"}, "Affects Version/s (1), Environment (1)"},
		{&Kept{}, "d", []string{"Web"}, "Affects Version/s (1), Custom field (Story Points) (1), Environment (1), Fix Version/s (1), Resolution (1)"},
	} {
		r := openCSV(t, file)
		if c.kept != nil {
			r.Keep(*c.kept)
		}
		got := all(t, r.Tickets())
		if got[0].Description != c.text || !cmp.Equal([]string(got[0].Labels), c.labels) || got[1].Description != "" {
			t.Errorf("%+v: %q, %q; %v", c.kept, got[0].Description, got[0].Labels, got[1].Description)
		}
		if notices := strings.Join(r.Notices(), "\n"); !strings.HasSuffix(notices, c.left) || strings.Contains(notices, "Sprint") {
			t.Errorf("%+v: %s", c.kept, notices)
		}
	}
}
