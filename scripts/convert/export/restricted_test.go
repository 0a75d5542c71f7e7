package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What only some may see is left out and counted by the member that says so, whichever that is; one
// option keeps it.
func TestRestrictedComments(t *testing.T) {
	t.Parallel()
	for marks, who := range map[string]string{
		`"visibility":{"type":"role","value":"Administrators"}`:           "visibility: Administrators",
		`"visibility":{"type":"group","value":null,"identifier":"6a-7b"}`: "visibility",
		`"visibility":"developers"`:                                       "visibility: developers",
		`"roleLevel":"Service Desk Team"`:                                 "roleLevel: Service Desk Team",
		`"group_level":{"name":"staff"}`:                                  "group_level: staff",
		`"restrictedTo":["board","audit"]`:                                "restrictedTo: audit",
		`"visibility":{"type":"role","value":"Everyone"}`:                 "visibility: role",
		`"visibility":"—"`:                                                "visibility: —",
		`"jsdPublic":false`:                                               "jsdPublic: false",
		`"public":"false"`:                                                "public: false",
		`"internal":true`:                                                 "internal: true",
		`"is_private":1`:                                                  "is_private",
		`"private_notes":true`:                                            "private_notes: true",
		`"hidden":"yes"`:                                                  "hidden: yes",
		`"view_state":{"id":50,"name":"private"}`:                         "view_state: private",
		`"viewState":{"id":10,"name":"public"},"hidden":false`:            "",
		`"properties":[{"key":"x","value":1},{"key":"sd.public.comment","value":{"internal":true}}]`:                      "internal: true",
		`"properties":{"sd.public.comment":{"internal":"true"}}`:                                                          "internal: true",
		`"properties":[{"key":"sd.public.comment","value":"{\"internal\":true}"}]`:                                        "internal: true",
		`"properties":"[{\"key\":\"sd.public.comment\",\"value\":\"{\\\"internal\\\": \\\"true\\\"}\"}]"`:                 "internal: true",
		`"properties":"[{'key': 'sd.public.comment', 'value': {'internal': True}}]"`:                                      "internal: True",
		`"properties":[{"value":{"internal":true},"key":"sd.public.comment"}]`:                                            "internal: true",
		`"properties":[{"id":"sd.public.comment","properties":{"internal":true}}]`:                                        "internal: true",
		`"sd.public.comment":"{\"internal\":true}"`:                                                                       "internal: true",
		`"sd.public.comment":{"internal":true}`:                                                                           "internal: true",
		`"properties":[{"key":"x","value":{"internal":true}},{"key":"sd.public.comment","value":"{\"internal\":false}"}]`: "internal: true",
		`"properties":"[{\"key\":\"sd.public.comment\",\"value\":{\"internal\":false}}]","jsdPublic":"True"`:              "",
		`"visibility":"{\"type\":\"role\",\"value\":\"Developers\"}"`:                                                     "visibility: Developers",
		`"visibility":"jsd_internal"`:                                                                                     "visibility: jsd_internal",
		`"visibility":"jsd_public","republic":"no"`:                                                                       "",
		`"jsdPublic":"Internal"`:                      "jsdPublic: Internal",
		`"level":"jira-administrators"`:               "grouplevel: jira-administrators",
		`"@rolelevel":"Administrators"`:               "@rolelevel: Administrators",
		`"isMinimized":true,"minimizedReason":"SPAM"`: "isMinimized: true",
		`"minimized":{"reason":"abuse"}`:              "minimized: abuse",
		`"internal_only":true`:                        "internal_only: true",
		`"Customer visible":"no"`:                     "Customer visible: no",
		`"type":"private-note"`:                       "type: private-note",
		`"audience":["agents"]`:                       "audience: agents",
		`"deleted_at":"2025-03-14"`:                   "deleted_at",
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
				if said := slices.Contains(r.Notices(), fmt.Sprintf("comments that not everybody may read (%s), %s: 1", who, done)); said != (who != "") || r.Incomplete() != "" {
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
	write(t, folder, map[string]string{"projects.jsonl": "", "tickets.jsonl": `{"ticket_id":"A-1","project_id":"A","name":"n","notes":["plain",{"note":"private","status":"Done"},{"note":"secret","private":true}]}`})
	r := open(t, folder)
	if got := one(t, r.Tickets()); len(got.Notes) != 2 || !slices.Contains(r.Notices(), "notes that not everybody may read (private: true), left out: 1") {
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
		if got := one(t, r.Tickets()); got.Key != "A-1" || !strings.Contains(strings.Join(r.Notices(), "\n"), ": Personnel only), left out: 1") {
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
	if !errors.Is(err, ErrFiles) || !strings.Contains(err.Error(), "comments in Jira's CSV") || !strings.Contains(err.Error(), "--restricted keep") || !strings.Contains(err.Error(), "--restricted omit") {
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

// What may say who may read a text is asked about: nothing is imported until the user decides.
func TestDoubtfulMembers(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"x.csv":         "Issue key,Summary,Internal ref\nA-1,open,\nA-2,doubtful,17\n",
		"tickets.jsonl": `{"ticket_id":"A-1","project_id":"A","name":"open","internal_ref":false}` + "\n" + `{"ticket_id":"A-2","project_id":"A","name":"doubtful","Internal ref":17}`,
	} {
		r := open(t, writeOne(t, name, file))
		_, _, err := collect(t, r.Projects())
		if !errors.Is(err, ErrFiles) || !strings.Contains(err.Error(), "tickets with Internal ref (1)") || !strings.Contains(err.Error(), "--restricted keep") {
			t.Errorf("%s: %v", name, err)
		}
		for restricted, want := range map[string]int{"": 1, Omit: 1, Keep: 2} {
			r.Restricted = restricted
			if got := all(t, r.Tickets()); len(got) != want {
				t.Errorf("%s, %s: %d tickets", name, restricted, len(got))
			}
		}
	}
}

// A link in a folder is skipped and named, wherever it leads. A path that the user names is
// followed.
func TestLinksAreSkipped(t *testing.T) {
	t.Parallel()
	elsewhere, folder := t.TempDir(), t.TempDir()
	write(t, elsewhere, map[string]string{"far.csv": "Issue key,Summary\nB-1,far\n", "tickets.jsonl": `{"ticket_id":"B-1","project_id":"B","name":"n"}`})
	write(t, folder, map[string]string{"near.csv": "Issue key,Summary\nA-1,near\n"})
	link := filepath.Join(folder, "link.csv")
	if err := errors.Join(os.Symlink(filepath.Join(elsewhere, "far.csv"), link), os.Symlink("near.csv", filepath.Join(folder, "again.csv"))); err != nil {
		t.Fatal(err)
	}
	r := open(t, folder)
	if got := one(t, r.Tickets()); got.Key != "A-1" {
		t.Errorf("a link is followed: %v", got)
	}
	if notices := strings.Join(r.Notices(), "\n"); !strings.Contains(notices, "not followed: 2 (") || !strings.Contains(notices, link) {
		t.Errorf("the links are not named: %s", notices)
	}
	if got := one(t, open(t, link).Tickets()); got.Key != "B-1" {
		t.Errorf("a named link is not followed: %v", got)
	}
	lines := t.TempDir()
	write(t, lines, map[string]string{"projects.jsonl": ""})
	if err := os.Symlink(filepath.Join(elsewhere, "tickets.jsonl"), filepath.Join(lines, "tickets.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(lines); err == nil || !strings.Contains(err.Error(), "not followed: 1 (") {
		t.Errorf("JSON Lines by a link: %v", err)
	}
}

// Texts about privacy, and in the markup of a tracker, are texts.
func TestTextsAboutPrivacy(t *testing.T) {
	t.Parallel()
	r := open(t, writeOne(t, "x.csv", "Issue key,Summary,Description,Status,Custom field (Steps)\nA-1,private: true,\"{code}\nprivate: true\n{code}\",Draft,\"[link|http://x] {code:yaml}visibility: private{code}\"\n"))
	if got := one(t, r.Tickets()); got.Name != "private: true" || got.Status != "Draft" {
		t.Errorf("%+v", got)
	}
	all(t, r.Projects())
	for name, file := range map[string]string{
		"x.json":        `{"key":"A-1","fields":{"summary":"private","security":null,"description":"{\"private\":true}","status":{"name":"Draft"},"worklog":{"worklogs":[{"visibility":{"type":"role","value":"hr"}}]},"reporter":{"name":"a","deleted":true}},"names":{"security":"Security Level"},"schema":{"security":{"type":"securitylevel"}}}`,
		"tickets.jsonl": `{"ticket_id":"A-1","project_id":"A","name":"n","description":"---\nprivate: true\n---\n","labels":["private-beta"],"private":false,"visibility":"public","draft":false,"comments":[{"body":"private: true","public":true}]}`,
	} {
		r := open(t, writeOne(t, name, file))
		all(t, r.Projects())
		if got := one(t, r.Tickets()); got.Key != "A-1" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
