package export

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

const unknownMember = "zz_pressure"

// Exports of each format, of issues that are not left out.
var nestedForms = map[string]string{
	"jira.json": `{"startAt":0,"total":1,"isLast":true,"pageInfo":{"hasNextPage":false},"issues":[` + strings.NewReplacer(`"total":3`, `"total":2`, `"customfield_10020":[{"id":1,"name":"Sprint 4"}],"votes":{"votes":0},`, "").Replace(jiraIssue) + `]}`,
	"github.json": `[{"number":7,"title":"Pump leaks","body":"At night","state":"CLOSED","author":{"login":"ann"},"assignees":[{"login":"bob"}],"labels":[{"name":"bug"}],"createdAt":"2025-03-14T09:12:00Z",
		"comments":[{"id":"IC_1","author":{"login":"bob"},"body":"Tighten it","createdAt":"2025-03-14T10:00:00Z"}],"url":"https://github.com/acme/pumps/issues/7","parent":{"id":"I_1","number":1},
		"milestone":{"number":4,"title":"Spring trials","dueOn":"2025-05-01T00:00:00Z"},"projectItems":[{"status":{"name":"Blocked"},"title":"Bench"}]}]`,
	"forgejo.json": `[{"id":31,"number":7,"title":"Pump leaks","body":"At night","state":"open","user":{"id":2,"login":"ann"},"labels":[{"id":1,"name":"bug"}],"assignee":null,"assignees":[{"login":"bob"}],"created_at":"2025-03-14T09:12:00Z",
		"comments":0,"html_url":"https://codeberg.org/acme/pumps/issues/7","url":"https://codeberg.org/api/v1/repos/acme/pumps/issues/7","due_date":"2025-06-01T00:00:00Z","milestone":{"id":9,"title":"Spring trials","due_on":"2025-05-01T00:00:00Z"},
		"repository":{"id":5,"name":"pumps","owner":"acme"}}]`,
	"gitlab.json": `[{"id":9107,"iid":7,"project_id":4,"title":"Pump leaks","state":"closed","created_at":"2025-03-14T09:12:00.000Z","labels":[{"name":"bug"}],"milestone":{"id":1,"title":"Spring"},"author":{"username":"ann","name":"Ann Roe"},
		"assignees":[{"username":"bob","name":"Bob Lee"}],"web_url":"https://gitlab.com/acme/pumps/issues/7","references":{"short":"#7"},"_links":{"self":"x"}}]`,
	"tickets.jsonl": `{"ticket_id":"S-1","project_id":"S","name":"n","created_at":"2025-03-14","notes":[{"status":"Done","note":"x"}],` +
		`"comments":[{"key":"9","body":"y","author":{"name":"Bob"}}],"links":[{"kind":"blocks","key":"S-2"}]}`,
}

// convertForm converts a file, and returns what it prints and what it writes.
func convertForm(t *testing.T, name, content string, options Options) (says, written string) {
	t.Helper()
	folder, says2, out := t.TempDir(), bytes.Buffer{}, bytes.Buffer{}
	write(t, folder, map[string]string{name: content})
	where := filepath.Join(folder, name)
	if strings.HasSuffix(name, ".jsonl") {
		for other, content := range map[string]string{"projects.jsonl": `{"project_id":"S","name":"S"}`, "tickets.jsonl": ""} {
			if other != name && name != "documents.jsonl" {
				write(t, folder, map[string]string{other: content})
			}
		}
		if name == "documents.jsonl" {
			write(t, folder, map[string]string{"manifest.json": `{"format":"markdown","origin":"x","documents":1}`})
		}
		where = folder
	}
	manifest, err := Convert(&out, &says2, options, where)
	if err != nil || manifest.Tickets+manifest.Documents+manifest.Projects == 0 {
		t.Fatalf("convert %s: %+v, %v\n%s", content, manifest, err, says2.String())
	}
	return says2.String(), out.String()
}

// No member vanishes: an unknown one in any object of an export is named at the end, by a path by
// which an option keeps it.
func TestUnknownMembersAreNamed(t *testing.T) {
	t.Parallel()
	for name, form := range nestedForms {
		places := 0
		for at, sign := range form {
			if sign != '{' || form[at+1] == '{' || form[at-min(at, 1)] == '{' && at > 0 || strings.HasPrefix(form[at:], `{"type":"doc"`) || strings.Contains(form[max(0, at-250):at], `"type":"doc"`) && strings.Count(form[:at], `"content":[`) > strings.Count(form[:at], `]}]}`) {
				continue // the inside of a document is its text
			}
			for _, value := range []string{`"seven bar"`, `{"inside":["seven bar"]}`, `[["seven bar"]]`, `0`} {
				with := form[:at+1] + `"` + unknownMember + `":` + value + strings.TrimPrefix(","+form[at+1:], ",}")
				if strings.HasPrefix(form[at+1:], "}") {
					with = form[:at+1] + `"` + unknownMember + `":` + value + form[at+1:]
				}
				if !gjson.Valid(strings.TrimSpace(with)) {
					t.Fatalf("%s", with)
				}
				says, _ := convertForm(t, name, with, Options{Text: DefaultText})
				_, list, _ := strings.Cut(says, "columns left out, with their number of rows: ")
				path := ""
				for one := range strings.SplitSeq(strings.TrimSpace(list), ", ") {
					if strings.Contains(one, unknownMember) {
						path, _, _ = strings.Cut(one, " (")
					} else if strings.HasPrefix(one, "projectItems (") && strings.Contains(form[:at], `"projectItems"`) {
						path = "projectItems" // with all that is in it
					}
				}
				if path == "" {
					t.Errorf("%s: not named: …%s\n%s", name, with[max(0, at-60):at+len(unknownMember)+30], says)
					continue
				}
				places++
				if strings.HasPrefix(value, `"`) && path != "projectItems" {
					says, written := convertForm(t, name, with, Options{Text: path})
					_, left, _ := strings.Cut(says, "columns left out")
					isPage := name == "jira.json" && (path == unknownMember && at == 0 || strings.HasPrefix(path, "pageInfo"))
					if !isPage && (!strings.Contains(written, "seven bar") || strings.Contains(left, unknownMember)) {
						t.Errorf("%s: --text %s does not keep it: %s\n%s", name, path, left, written)
					}
				}
			}
		}
		if places < 12 {
			t.Errorf("%s: %d places", name, places)
		}
	}
	for name, content := range map[string]string{
		"projects.jsonl": `{"project_id":"S","name":"S","zz_pressure":1}`, "documents.jsonl": `{"path":"a.md","title":"a","content":"x","zz_pressure":{"a":1}}`, "a.md": "---\ntitle: a\nzz_pressure: 7\n---\nx\n",
		"b.md": "---\ntitle: a\nzz_pressure:\n  deep: 7\n---\nx\n", "c.md": "---\ntags:\n  zz_pressure: 7\n---\n# x\n",
		"x.csv": "Issue key,Summary,zz_pressure\nA-1,n,7\n", "y.csv": "ID,Team,Title,zz_pressure\nA-1,t,n,7\n", "z.csv": "URL,Title,State,zz_pressure\nhttps://gitlab.com/a/b/-/issues/1,n,Open,7\n",
	} {
		if says, _ := convertForm(t, name, content, Options{Text: DefaultText}); !strings.Contains(says, unknownMember) && !strings.Contains(says, "tags") {
			t.Errorf("%s: %s", name, says)
		}
	}
}

func TestMilestones(t *testing.T) {
	t.Parallel()
	for name, due := range map[string]string{"github.json": "2025-05-01T00:00:00Z", "forgejo.json": "2025-06-01T00:00:00Z"} {
		_, written := convertForm(t, name, nestedForms[name], Options{Text: DefaultText})
		ticket := gjson.Get(strings.Split(written, "\n")[2], "@this")
		if ticket.Get("due_date").String() != due || ticket.Get("description").String() != "At night\n\nmilestone: Spring trials" {
			t.Errorf("%s: %s", name, ticket.Raw)
		}
		_, written = convertForm(t, name, nestedForms[name], Options{Labels: "Milestone,projectItems.status"})
		want := `["bug","milestone: Spring trials"]`
		if name == "github.json" {
			want = `["bug","milestone: Spring trials","projectItems.status: Blocked"]`
		}
		if got := gjson.Get(strings.Split(written, "\n")[2], "labels").Raw; got != want {
			t.Errorf("%s: labels %s", name, got)
		}
	}
	if ticket := gjson.Get(strings.Split(must(t, "github.json"), "\n")[2], "links").Raw; ticket != `[{"kind":"child_of","source_id":"I_1","inward":false}]` {
		t.Errorf("links %s", ticket)
	}
	if ticket := gjson.Get(strings.Split(must(t, "forgejo.json"), "\n")[2], "source_id").Raw; ticket != `"31"` {
		t.Errorf("source_id %s", ticket)
	}
}

func must(t *testing.T, name string) string {
	t.Helper()
	_, written := convertForm(t, name, nestedForms[name], Options{})
	return written
}

// An option that names no column of the files is said, one that names an empty column is not.
func TestOptionsThatKeepNothing(t *testing.T) {
	t.Parallel()
	file := writeOne(t, "x.csv", "Issue key,Summary,Status,Custom field (Size),Sprint\nA-1,n,Open,,7\n")
	var says strings.Builder
	if _, err := Convert(io.Discard, &says, Options{Labels: "Foo,size,Status", Text: "Sprint,Bar"}, file); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--labels Foo keeps nothing", "--labels Status keeps nothing", "--text Bar keeps nothing"} {
		if !strings.Contains(says.String(), want) {
			t.Errorf("not said: %s", want)
		}
	}
	if strings.Contains(says.String(), "size") || strings.Contains(says.String(), "Sprint") {
		t.Errorf("%s", says.String())
	}
	says.Reset()
	if _, err := Convert(io.Discard, &says, Options{Labels: "Foo", Text: DefaultText}, writeOne(t, "a.md", "# x\n")); err != nil || strings.Count(says.String(), "keeps nothing") != 1 {
		t.Errorf("%v %s", err, says.String())
	}
}
