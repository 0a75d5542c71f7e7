package ticketfile

import (
	"bufio"
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What gh issue list --json … writes.
const ghIssues = `[
  {"number":7,"title":"Pump leaks","body":"Oil","state":"OPEN","stateReason":"","author":{"login":"ann"},"assignees":[{"login":"bo"},{"login":"cy"}],
   "labels":[{"id":"x","name":"bug"}],"createdAt":"2025-03-14T12:00:00Z","updatedAt":"2025-03-14T12:00:00Z","closedAt":null,
   "comments":[{"id":"IC_1","author":{"login":"cy"},"body":"Seal it","createdAt":"2025-03-14T12:00:00Z"},{"id":"IC_2","author":null,"body":"ok","createdAt":""}],
   "url":"https://github.com/acme/oil-pump/issues/7"},
  {"number":8,"title":"No","state":"CLOSED","stateReason":"NOT_PLANNED","author":{"login":"ann"},"assignees":[],"labels":[],
   "createdAt":"2025-03-14T12:00:00Z","closedAt":"2025-03-14T12:00:00Z","url":"https://github.com/acme/oil-pump/issues/8"}
]`

// What gh api --paginate repos/…/issues writes: a page after the other.
const restIssues = `[{"number":7,"title":"Pump leaks","body":null,"state":"closed","state_reason":"completed","user":{"login":"ann"},"assignees":[],
"labels":[{"name":"bug"},"old"],"comments":2,"created_at":"2025-03-14T12:00:00Z","updated_at":"2025-03-14T12:00:00Z","closed_at":"2025-03-14T12:00:00Z",
"type":{"name":"Bug"},"url":"https://api.github.com/repos/acme/oil-pump/issues/7","html_url":"https://github.com/acme/oil-pump/issues/7"}]
[{"number":9,"title":"A change","pull_request":{"url":"x"},"html_url":"https://github.com/acme/oil-pump/pull/9"},
{"number":10,"title":"No address"}]
`

func openJSON(t *testing.T, name, content string) *Reader {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, map[string]string{name: content})
	return open(t, filepath.Join(folder, name))
}

func TestGitHubCLI(t *testing.T) {
	t.Parallel()
	r := openJSON(t, "issues.json.gz", ghIssues)
	want := []Ticket{
		{Key: "OIL-PUMP-7", ProjectKey: "OIL-PUMP", Name: "Pump leaks", Description: "Oil", Status: "Open", StatusCategory: "to_do", CreatedAt: noon, UpdatedAt: noon,
			Assignee: new("bo"), Reporter: new("ann"), Labels: []string{"bug"}, ResolvedAt: &time.Time{}, Line: 2,
			Comments: []Comment{{Key: "IC_1", Author: "cy", Text: "Seal it", CreatedAt: noon}, {Key: "IC_2", Text: "ok"}}},
		{Key: "OIL-PUMP-8", ProjectKey: "OIL-PUMP", Name: "No", Status: "Not planned", StatusCategory: "done", CreatedAt: noon,
			Assignee: new(""), Reporter: new("ann"), Labels: []string{}, ResolvedAt: &noon, Line: 6},
	}
	got := all(t, r.Tickets())
	for i := range got {
		got[i].File = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want, got := []Project{{Key: "OIL-PUMP", Name: "acme/oil-pump"}}, all(t, r.Projects()); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestGitHubAPI(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"pages": restIssues,
		"lines": strings.NewReplacer("[{\"number", "{\"number", "issues/7\"}]", "issues/7\"}", "},\n{", "}\n{", "}]\n", "}\n").Replace(restIssues),
	} {
		r := openJSON(t, "issues.json", content)
		good, bad, fatal := collect(t, r.Tickets())
		want := []Ticket{{Key: "OIL-PUMP-7", ProjectKey: "OIL-PUMP", Name: "Pump leaks", Status: "Closed", StatusCategory: "done", CreatedAt: noon, UpdatedAt: noon,
			Assignee: new(""), Reporter: new("ann"), Type: new("Bug"), Labels: []string{"bug", "old"}, ResolvedAt: &noon}}
		if diff := cmp.Diff(want, good, withoutPlace); diff != "" || fatal != nil {
			t.Errorf("%s: %v\n%s", name, fatal, diff)
		}
		if len(bad) != 1 || bad[0].Line != 5 || bad[0].Reason != "url is missing: name it in gh issue list --json" {
			t.Errorf("%s: bad rows %v", name, bad)
		}
	}
}

func TestGitHubThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"[" + strings.Repeat(`{"number":1,"title":"n","url":"https://github.com/a/b/issues/1"},`, 2) + "\n":              "the file ends within a value: it was cut off",
		`[{"number":1,"title":"n","url":"https://github.com/a/b/issues/1"},` + "\n\n[}":                                  "line 3: invalid character '}'",
		`[{"number":1,"title":"n","url":"https://github.com/a/b/issues/1"}]` + "\n]":                                     "line 2: invalid character ']'",
		`[{"number":1,"title":"n","url":"https://github.com/a/b/issues/1"},{"a":"` + strings.Repeat("a", MaxRow) + `"}]`: "the row is longer than 16 MiB",
	} {
		good, _, fatal := collect(t, openJSON(t, "issues.json", content).Tickets())
		if len(good) == 0 || fatal == nil || !strings.Contains(fatal.Error(), want) {
			t.Errorf("%.80q: %d tickets, %v, want %s", content, len(good), fatal, want)
		}
	}
	if got := all(t, openJSON(t, "issues.json", " [ ] \n").Tickets()); len(got) != 0 {
		t.Errorf("an empty list gave %v", got)
	}
}

func FuzzGitHubTickets(f *testing.F) {
	for _, seed := range []string{"", "[]", ghIssues, restIssues, "[[", "{}{}", `[{"number":1,"title":"n","url":"x"}]`, "]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows := newGitHubRows("f", bufio.NewReader(bytes.NewReader(data)))
		for range 1000 {
			ticket, err := rows.nextTicket()
			if err == nil {
				checkText(t, ticket.Key, ticket.Name, ticket.Description)
				continue
			}
			if bad, is := err.(*RowError); is {
				checkText(t, bad.Reason)
				continue
			}
			return
		}
	})
}
