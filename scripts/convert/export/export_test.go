package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// converted is what a conversion writes.
type converted struct {
	manifest Manifest
	lines    []map[string]any // after the manifest
	says     string
	err      error
}

func convertAll(t *testing.T, options Options, paths ...string) (c converted) {
	t.Helper()
	var out, says bytes.Buffer
	c.manifest, c.err = Convert(&out, &says, options, paths...)
	c.says = says.String()
	if c.err != nil {
		if out.Len() > 0 {
			t.Errorf("%v, and yet it wrote %s", c.err, out.String())
		}
		return c
	}
	for line := range strings.Lines(out.String()) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		c.lines = append(c.lines, row)
	}
	var first Manifest
	if err := json.Unmarshal([]byte(strings.SplitN(out.String(), "\n", 2)[0]), &first); err != nil || !reflect.DeepEqual(first, c.manifest) {
		t.Errorf("the first line is %+v, %v", first, err)
	}
	c.lines = c.lines[1:]
	if rows := first.Projects + first.Tickets + first.Documents; rows != len(c.lines) {
		t.Errorf("%d rows follow the manifest, which says %d", len(c.lines), rows)
	}
	return c
}

// texts returns lines without the places of their rows, each as JSON with sorted names.
func (c converted) texts(t *testing.T) (all []string) {
	t.Helper()
	for _, row := range c.lines {
		delete(row, "file")
		delete(row, "line")
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

// A stream is the manifest, the projects and the tickets, with what only the end of the files
// tells: names of people, and the order of day and month.
func TestStream(t *testing.T) {
	t.Parallel()
	path := writeOne(t, "x.csv", `Issue key,Issue id,Summary,Created,Assignee,Assignee Id,Project name,Project description,Description,Due date,Sprint
A-1,71,one,03/04/2025,ann1,,Pumps,by [~ann1],Ask [~ann1],,
B-1,72,two,3/14/2025,Ann Roe,ann1,,,,soon,5
B-2,73,,,,,,,,,
`)
	got := convertAll(t, Options{Language: "german", Prefix: "X-"}, path)
	if got.err != nil {
		t.Fatal(got.err)
	}
	for i, row := range got.lines {
		if row["file"] != path || row["line"] != []float64{2, 3, 2, 3}[i] {
			t.Errorf("row %d is at %v:%v", i, row["file"], row["line"])
		}
	}
	want := []string{
		`{"description":"by @Ann Roe","language":"german","name":"Pumps","project_id":"X-A"}`,
		`{"language":"german","name":"X-B","project_id":"X-B"}`,
		`{"assignee":"Ann Roe","created_at":"2025-03-04T00:00:00Z","description":"Ask @Ann Roe","due_date":"","name":"one","project_id":"X-A","source_id":"71","status":"To Do","ticket_id":"X-A-1"}`,
		`{"assignee":"Ann Roe","created_at":"2025-03-14T00:00:00Z","name":"two","project_id":"X-B","source_id":"72","status":"To Do","ticket_id":"X-B-1"}`,
	}
	if texts := got.texts(t); !reflect.DeepEqual(texts, want) {
		t.Errorf("the lines are\n%s\nwant\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
	if want := (Manifest{Format: "jira", Projects: 2, Tickets: 2, LeftOut: 1, Fields: 1, Notices: []string{"columns left out, with their number of rows: Sprint (1)"}}); !reflect.DeepEqual(got.manifest, want) {
		t.Errorf("the manifest is %+v", got.manifest)
	}
	if want := "left out: " + path + ":4: B-2: Summary is missing\nwarning: " + path + ":3: X-B-1: Due date is left out: \"soon\" is not a date\n" + got.manifest.Notices[0] + "\n"; got.says != want {
		t.Errorf("it says %s", got.says)
	}
}

// What cannot be imported writes nothing, and says why.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	issue := func(repository string) string {
		return `{"number":1,"title":"n","url":"https://github.com/` + repository + `/issues/1"}`
	}
	for name, c := range map[string]struct {
		file, text string
		options    Options
		want       string
	}{
		"cut off":              {"x.json", "[" + issue("a/s") + "," + issue("a/s")[:20], Options{}, "it is cut off: after issue 1"},
		"not said who reads":   {"x.csv", "Issue key,Summary,Comment\nA-1,n,c\n", Options{}, "they do not say clearly who may read comments in Jira's CSV"},
		"of several owners":    {"x.json", issue("acme/s") + issue("globex/t"), Options{}, "several owners, github.com/acme/s and github.com/globex/t: give the import an origin"},
		"of no known format":   {"x.json", "{}", Options{}, "this is not an export of issues"},
		"another kind of file": {"x.pdf", "", Options{}, "nor an export: from Jira"},
		"a wrong prefix":       {"x.json", issue("a/s"), Options{Prefix: "a b"}, `the prefix "a b" is not of letters`},
		"a wrong choice":       {"x.json", issue("a/s"), Options{Restricted: "some"}, `--restricted is keep or omit, not "some"`},
		"a long origin":        {"x.json", issue("a/s"), Options{Origin: strings.Repeat("é", MaxKey+1)}, "--origin is longer than 255 characters"},
		"notes with a prefix":  {"x.md", "# A", Options{Prefix: "A-"}, "documents are imported from one path, without a prefix"},
	} {
		if got := convertAll(t, c.options, writeOne(t, c.file, c.text)); got.err == nil || !strings.Contains(got.err.Error(), c.want) {
			t.Errorf("%s: %v", name, got.err)
		}
	}
	if got := convertAll(t, Options{}, filepath.Join(t.TempDir(), "none.csv")); !errors.Is(got.err, os.ErrNotExist) {
		t.Errorf("no file: %v", got.err)
	}
	if got := convertAll(t, Options{Origin: "mine"}, writeOne(t, "x.json", issue("acme/s")+issue("globex/t"))); got.err != nil || got.manifest.Origin != "mine" {
		t.Errorf("several owners with an origin: %+v, %v", got.manifest, got.err)
	}
}

// Troubles of a kind are printed together, with some examples, and counted in the manifest.
func TestTroubles(t *testing.T) {
	t.Parallel()
	var tickets strings.Builder
	for range 7 {
		tickets.WriteString(`{"ticket_id":"S-1","project_id":"S","name":"n"}` + "\n")
	}
	tickets.WriteString(`{"ticket_id":"s-1","project_id":"S","name":"n"}` + "\n" + `{"ticket_id":"T-1","project_id":"T","name":"n"}` + "\n" + `{"ticket_id":"S-2","project_id":"S","name":"n","labels":1,"due_date":"soon"}`)
	folder := t.TempDir()
	write(t, folder, map[string]string{"projects.jsonl": oneProject + oneProject + "{}", "tickets.jsonl": tickets.String()})
	got := convertAll(t, Options{}, folder)
	if m := got.manifest; m.Whole || m.Clean() || m.LeftOut != 3 || m.Fields != 2 || m.Repeated != 6 || m.Projects != 2 || m.Tickets != 8 || m.Format != "jsonl" {
		t.Errorf("%+v", m)
	}
	file := filepath.Join(folder, "tickets.jsonl")
	for _, want := range []string{
		"left out: " + folder + "/projects.jsonl:3: project_id is missing\n",
		`left out: ` + file + `:8: s-1: "s-1" and "S-1", at ` + file + `:7, are the same key: one of them must become another` + "\n",
		`left out: ` + file + `:9: T-1: project "T" is not among the projects` + "\n",
		"repeated: " + file + ":2: S-1 is at " + file + ":1 too; the last row counts\n", "repeated: " + file + ":6: ", "repeated: 1 more like these\n",
		"warning: " + file + ":10: S-2: due_date is left out: \"soon\" is not a date\n",
	} {
		if !strings.Contains(got.says, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(got.says, "repeated: "+file+":7") || t.Failed() {
		t.Error(got.says)
	}
}

// A manifest says of files that are whole that they are, so that others are not pruned by.
func TestWhole(t *testing.T) {
	t.Parallel()
	issue := func(key, more string) string { return `{"key":"` + key + `","fields":{"summary":"n"` + more + `}}` }
	for text, want := range map[string]struct {
		whole, clean bool
		incomplete   string
	}{
		`{"issues":[` + issue("A-1", "") + `],"isLast":true}`:                                               {true, true, ""},
		`{"issues":[` + issue("A-1", `,"duedate":"soon"`) + `]}`:                                            {true, false, ""},
		`{"issues":[` + issue("A-1", "") + "," + issue("A-2", `,"security":{"name":"Board"}`) + `]}`:        {true, true, ""},
		`{"issues":[` + issue("A-1", "") + "," + issue("A-1", "") + `]}`:                                    {false, true, ""},
		`{"issues":[` + issue("A-1", "") + `],"isLast":false}`:                                              {false, false, "the last page says that another follows, which is missing"},
		`{"issues":[` + issue("A-1", `,"comment":{"total":9,"comments":[]}`) + `]}`:                         {false, false, "they lack 9 comments, since Jira returns only some of them in a search"},
		`{"issues":[` + issue("A-1", "") + "," + `{"key":"A-2","fields":{"status":{"name":"Open"}}}` + `]}`: {false, false, ""},
		`[]`: {false, true, ""},
	} {
		if m := convertAll(t, Options{}, writeOne(t, "x.json", text)).manifest; m.Whole != want.whole || m.Clean() != want.clean || m.Incomplete != want.incomplete {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

// A folder that a conversion wrote is converted to the same lines, with the origin and format of
// the first files. It and its files are for their owner only.
func TestFolder(t *testing.T) {
	t.Parallel()
	notes := filepath.Join(t.TempDir(), "notes")
	write(t, notes, map[string]string{"a.md": "---\ntags: [x]\n---\n# A\nText", "b/c.md": "More", "bad.md": "\xff", "own.md": "---\nprivate: true\n---\n"})
	for name, path := range map[string]string{
		"github": writeOne(t, "x.json", githubList), "jira": writeOne(t, "x.json", jiraIssue), "linear": writeOne(t, "x.csv", linearExport), "gitlab": writeOne(t, "x.csv", gitlabOld),
		"jsonl": writeOne(t, "tickets.jsonl", ""), "markdown": notes,
	} {
		first, folder := convertAll(t, Options{}, path), filepath.Join(t.TempDir(), "new", "out")
		manifest, err := ConvertTo(folder, io.Discard, Options{}, path)
		if err != nil || !reflect.DeepEqual(manifest, first.manifest) || manifest.Format != name {
			t.Fatalf("%s: %+v, %v", name, manifest, err)
		}
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s has the mode %v", name, entry.Name(), info.Mode())
			}
		}
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 || len(entries) < 2 {
			t.Errorf("%s: the folder has %d files and the mode %v", name, len(entries), info.Mode())
		}
		again := convertAll(t, Options{}, folder)
		if again.err != nil || !reflect.DeepEqual(first.texts(t), again.texts(t)) {
			t.Errorf("%s: %v\n%q\n%q", name, again.err, first.lines, again.lines)
		}
		if strings.Contains(again.says, "columns left out") {
			t.Errorf("%s: %s", name, again.says)
		}
		first.manifest.Notices, again.manifest.Notices = nil, nil // said once
		first.manifest.LeftOut, first.manifest.Fields = 0, 0
		if !reflect.DeepEqual(first.manifest, again.manifest) {
			t.Errorf("%s:\n%+v\n%+v", name, first.manifest, again.manifest)
		}
		if _, err := ConvertTo(folder, io.Discard, Options{}, path); err == nil || !strings.Contains(err.Error(), "is not empty") {
			t.Errorf("%s: a folder with files: %v", name, err)
		}
		if _, err := ConvertTo(filepath.Join(t.TempDir(), "x"), io.Discard, Options{Restricted: Keep}, path); err == nil {
			t.Errorf("%s: texts for some are kept in a folder", name)
		}
		if rows := entries[len(entries)-1].Name(); manifest.Tickets > 0 {
			write(t, folder, map[string]string{rows: ""})
			if cut := convertAll(t, Options{}, folder); !errors.Is(cut.err, ErrFiles) || !strings.Contains(cut.err.Error(), "they are cut off") {
				t.Errorf("%s: a folder that lacks rows: %v", name, cut.err)
			}
		}
	}
}

// Documents have the paths by which they are found again, also of files that cannot be read.
func TestDocuments(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "notes")
	write(t, folder, map[string]string{"a.md": "---\ntemporal_class: old\n---\nText", "b.md": "\xff", "c.md": "---\nprivate: true\n---\nText", "x.csv": "none"})
	for path, want := range map[string]Manifest{
		folder:                        {Documents: 1, Whole: true, LeftOut: 3, Fields: 1, Paths: []string{"a.md", "b.md"}},
		filepath.Join(folder, "a.md"): {Documents: 1, Single: true, Fields: 1, Paths: []string{"a.md", "b.md", "c.md"}},
	} {
		want.Format, want.Origin, want.OriginIsFolder = "markdown", "notes", true
		got := convertAll(t, Options{}, path)
		if !reflect.DeepEqual(got.manifest, want) {
			t.Errorf("%s: %+v, %v", path, got.manifest, got.err)
		}
		if texts := got.texts(t); len(texts) != 1 || texts[0] != `{"content":"Text","path":"a.md","title":"a"}` {
			t.Errorf("%s: %s", path, texts)
		}
	}
	if m := convertAll(t, Options{Origin: "mine"}, folder).manifest; m.Origin != "mine" || m.OriginIsFolder {
		t.Errorf("%+v", m)
	}
}

// While rows wait, their file has no name.
func TestRowsWaitWithoutAName(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	look := writerFunc(func(text []byte) (int, error) {
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) > 0 {
			t.Errorf("%v, %v are in the folder", err, entries)
		}
		return len(text), nil
	})
	if _, err := Convert(look, look, Options{}, writeOne(t, "x.json", jiraIssue)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(folder, "none"))
	if _, err := Convert(look, look, Options{}, writeOne(t, "x.json", jiraIssue)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder for temporary files: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// An id that never changes and the page's address come from each format that has them, and nothing
// else becomes an address.
func TestSources(t *testing.T) {
	t.Parallel()
	line := func(members string) string { return `{"ticket_id":"S-1","project_id":"S","name":"n",` + members + `}` }
	for _, c := range []struct{ file, text, id, url string }{
		{"x.csv", "Issue key,Summary,Issue id\nA-1,n,10007\n", "10007", ""},
		{"x.csv", "ID,Team,Title,UUID\nA-1,A,n,7f3c\n", "7f3c", ""},
		{"x.json", `{"key":"A.b-1","id":"10007","self":"https://x.example/jira/rest/api/2/issue/10007","fields":{"summary":"n"}}`, "10007", "https://x.example/jira/browse/A.b-1"},
		{"x.json", `{"key":"A-1","id":"10007","self":"https://api.atlassian.com/ex/jira/1/rest/api/3/issue/10007","fields":{"summary":"n"}}`, "10007", ""},
		{"x.json", `{"key":"A%z-1","id":"10007","self":"https://x.example/rest/api/2/issue/10007","fields":{"summary":"n"}}`, "10007", "https://x.example/browse/A%25z-1"},
		{"x.json", `{"key":"A-1","id":"10007","self":"jira/rest/api/2/issue/10007","fields":{"summary":"n"}}`, "10007", ""},
		{"x.json", `{"number":1,"title":"n","id":"I_kw","url":"https://github.com/a/s/issues/1"}`, "I_kw", "https://github.com/a/s/issues/1"},
		{"x.json", `{"number":1,"title":"n","id":7,"node_id":"I_kw","url":"https://api.github.com/repos/a/s/issues/1","html_url":"https://github.com/a/s/issues/1"}`, "I_kw", "https://github.com/a/s/issues/1"},
		{"x.json", `{"number":1,"title":"n","id":7,"url":"https://api.github.com/repos/a/s/issues/1"}`, "", ""},
		{"x.json", `{"id":9107,"iid":1,"title":"n","web_url":"https://x.example/a/s/-/issues/1"}`, "9107", "https://x.example/a/s/-/issues/1"},
		{"tickets.jsonl", line(`"source_id":17,"url":" http://x.example/1 "`), "17", "http://x.example/1"},
		{"tickets.jsonl", line(`"url":"javascript:alert(1)"`), "", ""},
		{"tickets.jsonl", line(`"url":"https://ann:secret@x.example/1"`), "", ""},
		{"tickets.jsonl", line(`"url":"x.example/1"`), "", ""},
		{"tickets.jsonl", line(`"url":"https://x.example/` + strings.Repeat("é", 1000) + `"`), "", ""},
		{"tickets.jsonl", line(`"source_id":"` + strings.Repeat("é", 256) + `"`), "", ""},
	} {
		r := open(t, writeOne(t, c.file, c.text))
		got := one(t, r.Tickets())
		dropped := strings.Contains(c.text, `"url":"`) && c.file == "tickets.jsonl" && !strings.Contains(c.text, " http") || strings.Contains(c.text, "éé") && c.id == ""
		if got.SourceID != c.id || got.URL != c.url || (len(got.Warnings) > 0) != dropped {
			t.Errorf("%.120s: %q, %q, %v", c.text, got.SourceID, got.URL, reasons(got.Warnings))
		}
	}
}

// What a row lacks stays as it is stored, and what is empty clears it: both reach the stream.
func TestAbsentAndEmpty(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"projects.jsonl": oneProject, "tickets.jsonl": oneTicket +
		`{"ticket_id":"S-2","project_id":"S","name":"n","assignee":null,"reporter":"","ticket_type":null,"priority":"","due_date":null,"resolved_at":"","labels":[],"notes":[],"comments":null,"links":[],"source_id":"","url":null}`})
	want := []string{
		`{"name":"Shop","project_id":"S"}`,
		`{"name":"n","project_id":"S","status":"To Do","ticket_id":"S-1"}`,
		`{"assignee":"","comments":[],"due_date":"","labels":[],"links":[],"name":"n","priority":"","project_id":"S","reporter":"","resolved_at":"","status":"To Do","ticket_id":"S-2","ticket_type":""}`,
	}
	if texts := convertAll(t, Options{}, folder).texts(t); !reflect.DeepEqual(texts, want) {
		t.Errorf("the lines are\n%s", strings.Join(texts, "\n"))
	}
}
