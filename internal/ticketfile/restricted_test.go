package ticketfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What only some may see is left out and counted by who may see it, whatever marks it; one option
// keeps it.
func TestRestrictedComments(t *testing.T) {
	t.Parallel()
	for marks, who := range map[string]string{
		`"visibility":{"type":"role","value":"Administrators"}`:           "that only Administrators may see",
		`"visibility":{"type":"group","value":null,"identifier":"6a-7b"}`: "that only 6a-7b may see",
		`"visibility":"developers"`:                                       "that only developers may see",
		`"roleLevel":"Service Desk Team"`:                                 "that only Service Desk Team may see",
		`"group_level":{"name":"staff"}`:                                  "that only staff may see",
		`"restrictedTo":["board","audit"]`:                                "that only board, audit may see",
		`"visibility":{"type":"role","value":"Everyone"}`:                 "that only Everyone may see",
		`"visibility":"—"`:                                                "that only — may see",
		`"jsdPublic":false`:                                               "that are internal",
		`"public":"false"`:                                                "that are internal",
		`"internal":true`:                                                 "that are internal",
		`"is_private":1`:                                                  "that are internal",
		`"private_notes":true`:                                            "that are internal",
		`"hidden":"yes"`:                                                  "that are internal",
		`"view_state":{"id":50,"name":"private"}`:                         "that only private may see",
		`"viewState":{"id":10,"name":"public"},"hidden":false`:            "",
		`"properties":[{"key":"x","value":1},{"key":"sd.public.comment","value":{"internal":true}}]`:                      "that are internal",
		`"properties":{"sd.public.comment":{"internal":"true"}}`:                                                          "that are internal",
		`"properties":[{"key":"sd.public.comment","value":"{\"internal\":true}"}]`:                                        "that are internal",
		`"properties":"[{\"key\":\"sd.public.comment\",\"value\":\"{\\\"internal\\\": \\\"true\\\"}\"}]"`:                 "that are internal",
		`"properties":"[{'key': 'sd.public.comment', 'value': {'internal': True}}]"`:                                      "that are internal",
		`"properties":[{"value":{"internal":true},"key":"sd.public.comment"}]`:                                            "that are internal",
		`"properties":[{"id":"sd.public.comment","properties":{"internal":true}}]`:                                        "that are internal",
		`"sd.public.comment":"{\"internal\":true}"`:                                                                       "that are internal",
		`"sd.public.comment":{"internal":true}`:                                                                           "that are internal",
		`"properties":[{"key":"x","value":{"internal":true}},{"key":"sd.public.comment","value":"{\"internal\":false}"}]`: "",
		`"properties":"[{\"key\":\"sd.public.comment\",\"value\":{\"internal\":false}}]","jsdPublic":"True"`:              "",
		`"visibility":"{\"type\":\"role\",\"value\":\"Developers\"}"`:                                                     "that only Developers may see",
		`"visibility":"jsd_internal"`:                                                                                     "that only jsd_internal may see",
		`"visibility":"jsd_public","republic":"no"`:                                                                       "",
		`"jsdPublic":"Internal"`:                      "that are internal",
		`"level":"jira-administrators"`:               "that only jira-administrators may see",
		`"@rolelevel":"Administrators"`:               "that only Administrators may see",
		`"isMinimized":true,"minimizedReason":"SPAM"`: "that are minimized",
		`"minimized":{"reason":"abuse"}`:              "that are minimized",
		`"internal_only":true`:                        "limited by internal_only",
		`"Customer visible":"no"`:                     "limited by Customer visible",
		`"type":"private-note"`:                       "limited by type",
		`"audience":["agents"]`:                       "limited by audience",
		`"deleted_at":"2025-03-14"`:                   "limited by deleted_at",
		`"internal_only":false,"customer_visible":true,"type":"comment","deleted_at":null,"audience":"all","author":"Private","role":"agent"`: "",
		`"jsdPublic":true,"visibility":null,"isMinimized":false,"properties":[],"internal":false`:                                             "",
		`"visibility":"PUBLIC","public":true,"properties":[{"key":"sd.public.comment","value":{"internal":false}}]`:                           "",
	} {
		comments := `[{"id":"1","body":"shown"},{"id":"2","body":"secret",` + marks + `}]`
		for name, file := range map[string]string{
			"jira.json":     `{"key":"A-1","fields":{"summary":"n","comment":{"total":2,"comments":` + comments + `}}}`,
			"github.json":   `{"number":1,"title":"n","url":"https://github.com/x/a/issues/1","comments":` + comments + `}`,
			"tickets.jsonl": `{"ticket_id":"A-1","project_id":"A","name":"n","comments":` + comments + `}`,
		} {
			path := writeOne(t, name, file)
			for restricted, done := range map[string]string{"": "left out", Omit: "left out", Keep: "imported"} {
				r := open(t, path)
				r.Restricted = restricted
				got := one(t, r.Tickets())
				want := 1
				if who == "" || restricted == Keep {
					want = 2
				}
				if len(got.Comments) != want || got.Comments[0].Body != "shown" {
					t.Errorf("%s, %s: the comments are %v", name, marks, got.Comments)
				}
				if said := slices.Contains(r.Notices(), fmt.Sprintf("comments %s, %s: 1", who, done)); said != (who != "") || r.Incomplete() != "" {
					t.Errorf("%s, %s: the notices are %q", name, marks, r.Notices())
				}
			}
		}
	}
}

// Notes are left out for the same reasons.
func TestRestrictedNotes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"projects.jsonl": "", "tickets.jsonl": `{"ticket_id":"A-1","project_id":"A","name":"n","notes":["plain",{"note":"private","status":"Internal"},{"note":"secret","private":true}]}`})
	r := open(t, folder)
	if got := one(t, r.Tickets()); len(got.Notes) != 2 || !slices.Contains(r.Notices(), "notes that are internal, left out: 1") {
		t.Errorf("the notes are %v, the notices %q", got.Notes, r.Notices())
	}
}

// So are tickets, with all that they have.
func TestRestrictedTickets(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"x.csv":         "Issue key,Summary,Security Level\nA-1,open,\nB-2,hidden,Personnel only\n",
		"roles.json":    `[{"key":"A-1","fields":{"summary":"open","issuerestriction":{"issuerestrictions":{},"shouldDisplay":true}}},{"key":"B-2","fields":{"summary":"hidden","issuerestriction":{"issuerestrictions":{"projectrole":[{"id":"1","name":"Personnel only"}]},"shouldDisplay":true}}}]`,
		"linear.csv":    "ID,Team,Title,Restricted to\nA-1,A,open,\nB-2,B,hidden,Personnel only\n",
		"x.json":        `[{"key":"A-1","fields":{"summary":"open","security":null}},{"key":"B-2","fields":{"summary":"hidden","security":{"id":"1","name":"Personnel only"}}}]`,
		"tickets.jsonl": `{"ticket_id":"A-1","project_id":"A","name":"open","visibility":"public"}` + "\n" + `{"ticket_id":"B-2","project_id":"B","name":"hidden","security":"Personnel only"}`,
	} {
		path := writeOne(t, name, file)
		r := open(t, path)
		if got := one(t, r.Tickets()); got.Key != "A-1" || !slices.Contains(r.Notices(), "tickets that only Personnel only may see, left out: 1") {
			t.Errorf("%s: %v, %q", name, got, r.Notices())
		}
		if projects := all(t, r.Projects()); len(projects) > 1 {
			t.Errorf("%s: the project of a ticket that is left out is shown: %v", name, projects)
		}
		r.Restricted = Keep
		if got := all(t, r.Tickets()); len(got) != 2 {
			t.Errorf("%s: %d tickets are kept", name, len(got))
		}
	}
}

// Jira's CSV does not say who may see a comment: nothing is imported until the user decides.
func TestCommentsWithoutVisibility(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"x.csv": "Issue key,Summary,Comment,Comment\nA-1,n,14/Mar/25 9:30 AM;ann;one,14/Mar/25 9:31 AM;ann;two\nA-2,n,,\nA-3,n,plain,\n", "none.csv": "Issue key,Summary,Comment\nA-1,n,\n"})
	r := open(t, filepath.Join(folder, "x.csv"))
	projects, _, err := collect(t, r.Projects())
	if !errors.Is(err, ErrFiles) || !strings.Contains(err.Error(), "3 comments of 2 tickets") || !strings.Contains(err.Error(), "--restricted keep") || !strings.Contains(err.Error(), "--restricted omit") {
		t.Errorf("undecided: %v, %v", projects, err)
	}
	for restricted, want := range map[string]int{Keep: 3, Omit: 0} {
		r.Restricted = restricted
		all(t, r.Projects())
		comments := 0
		for _, ticket := range all(t, r.Tickets()) {
			if comments += len(ticket.Comments); restricted == Omit && ticket.Key != "A-2" && ticket.Comments != nil {
				t.Error("an import without comments removes them")
			}
		}
		if comments != want || (restricted == Omit) != slices.Contains(r.Notices(), "comments left out, because the file has no visibility for them: 3") {
			t.Errorf("%s: %d comments, %q", restricted, comments, r.Notices())
		}
	}
	all(t, open(t, filepath.Join(folder, "none.csv")).Projects())
}
