package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/offline"
)

// An error that stops an import names the setting to check. Bad rows alone do not stop it, but tell
// at the end.
func TestImportNamesTheSettingThatStoppedIt(t *testing.T) {
	_, settings := startStack(t)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"code":"invalid_api_key","message":"no"}}`))
	}))
	t.Cleanup(refusing.Close)
	var asked atomic.Int64
	inner := offline.NewHandler()
	limiting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 1 {
			inner.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", "2.5") // longer than is waited for within a request
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(limiting.Close)
	gone := httptest.NewServer(nil)
	gone.Close()

	const header, good, bad = "Issue key,Summary\n", "A-1,Good\n", "A-2,\n"
	setEnvironment(t, settings)
	if err := importFiles(t.Context(), []string{filepath.Join(t.TempDir(), "absent.csv")}); err == nil || !strings.Contains(err.Error(), "absent.csv") {
		t.Errorf("an import of no file: %v", err)
	}
	for _, c := range []struct{ name, rows, model, want string }{
		{"the model is unreachable", good, strings.Replace(gone.URL, "//", "//user:secret@", 1) + "/v1", "OPENAI_BASE_URL, http://user:xxxxx@"},
		{"the key is rejected", good, refusing.URL + "/v1", "refuses OPENAI_API_KEY"},
		{"the first request is limited", good, limiting.URL + "/v1", ""},
		{"no valid row", bad + bad, settings["OPENAI_BASE_URL"], "none of 2 rows is good"},
		{"some valid rows", good + bad, settings["OPENAI_BASE_URL"], "left out, as named above: 1 rows or files, 0 fields"},
		{"no rows", "", settings["OPENAI_BASE_URL"], "the files hold nothing to import"},
		{"only valid rows", good, settings["OPENAI_BASE_URL"], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			setEnvironment(t, with(settings, "OPENAI_BASE_URL", c.model))
			err := importFiles(t.Context(), []string{filepath.Join(testbed.Folder(t, "exports", map[string]string{"export.csv": header + c.rows}), "export.csv")})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v does not contain %q", err, c.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("the error contains a password: %v", err)
			}
		})
	}
}

// Whatever is left out because of a flaw, or lacking, is an error at the end; what is left out on
// purpose is none. Nothing is pruned for files that lack something, or hold nothing.
func TestImportOfFlawedFiles(t *testing.T) {
	owner, settings := startStack(t)
	setEnvironment(t, settings)
	issue := func(key, more string) string {
		return `{"key":"` + key + `","fields":{"summary":"n","created":"2025-03-14"` + more + `}}`
	}
	before := `{"issues":[` + issue("P-1", "") + "," + issue("P-2", "") + "," + issue("P-3", "") + "," + issue("P-4", "") + "," + issue("P-5", "") + "," + issue("P-6", "") + `]}`
	two := `"issues":[` + issue("P-1", "") + "," + issue("P-2", "") + `]`
	const all = "P-1 P-2 P-3 P-4 P-5 P-6"
	stored := func() (keys string) {
		if err := owner.QueryRow(t.Context(), `select coalesce(string_agg(key, ' ' order by key), '') from tickets`).Scan(&keys); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	for _, c := range []struct {
		name, file, text string
		args             []string
		want             string // in the error
		stored           string
	}{
		{"whole", "x.json", before, nil, "", all},
		{"not the last page", "x.json", `{` + two + `,"isLast":false}`, []string{"--prune", "--prune-many"}, "nothing is removed: the files are incomplete: the last page says that another follows", all},
		{"not the last page, without --prune", "x.json", `{` + two + `,"isLast":false}`, nil, "the files are incomplete: the last page", all},
		{"more in total", "x.json", `{` + two + `,"total":6}`, []string{"--prune", "--prune-many"}, "the page beside it is missing", all},
		{"ids only", "x.json", `{"issues":[{"id":"1"},{"id":"2"}],"isLast":true}`, []string{"--prune", "--prune-many"}, "none of 1 rows is good", all},
		{"an empty page", "x.json", `{"issues":[],"total":0}`, []string{"--prune", "--prune-many"}, "the files hold nothing to import", all},
		{"an empty list", "x.json", `[]`, []string{"--prune"}, "the files hold nothing to import", all},
		{"cut off", "x.json", before[:len(before)-9], []string{"--prune", "--prune-many"}, "it is cut off", all},
		{"comments of a search", "x.json", `{"issues":[` + issue("P-1", `,"comment":{"total":9,"comments":[]}`) + `]}`, []string{"--prune", "--prune-many"}, "they lack 9 comments", all},
		{"a CSV with comments", "x.csv", "Issue key,Summary,Comment\nP-7,n,14/Mar/25 9:30 AM;ann;c\n", nil, "--restricted keep imports them all, --restricted omit none", all},
		{"a bad field", "x.csv", "Issue key,Summary,Due date\nP-1,n,soon\n", nil, "left out, as named above: 0 rows or files, 1 fields", all},
		{"a key in two spellings", "x.json", `{"issues":[` + issue("P-1", "") + `,{"key":"p-1","fields":{"summary":"other","project":{"key":"P"}}}]}`, nil, "left out, as named above: 1 rows", all},
		{"restricted tickets", "x.json", `{"issues":[` + issue("P-1", "") + "," + issue("P-8", `,"security":{"name":"Board"}`) + `]}`, nil, "", all},
		{"restricted tickets, kept", "x.json", `{"issues":[` + issue("P-1", "") + "," + issue("P-8", `,"security":{"name":"Board"}`) + `]}`, []string{"--restricted", "keep"}, "", all + " P-8"},
		{"now restricted", "x.json", before[:len(before)-2] + "," + issue("P-8", `,"security":{"name":"Board"}`) + `]}`, []string{"--prune"}, "", all},
		{"a wrong choice", "x.json", before, []string{"--restricted", "some"}, "--restricted is keep or omit, not \"some\"", all},
	} {
		folder := testbed.Folder(t, "files", map[string]string{c.file: c.text})
		err := importFiles(t.Context(), append(c.args, filepath.Join(folder, c.file)))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || stored() != c.stored {
			t.Errorf("%s: stored %q, error %v, want %q and %q", c.name, stored(), err, c.stored, c.want)
		}
	}
}

// Rows that the database rejects are reported at the end and by the exit status.
func TestImportReportsRejectedRows(t *testing.T) {
	db := testbed.Database(t)
	testbed.TimeOut(t, db, "public.tickets", "new.key = 'A-3'")
	testbed.TimeOut(t, db, "public.documents", "new.title = 'bad'")
	testbed.TimeOut(t, db, "public.chunks", "new.text = 'Number 5'")
	owner, settings := startStackOver(t, db)
	settings["MODEL_TIMEOUT"] = "3s"
	setEnvironment(t, settings)
	patience := embedPatience
	t.Cleanup(func() { embedPatience = patience })
	embedPatience = 12 * time.Second
	rows := "Issue key,Summary\n"
	for i := range 10 {
		rows += fmt.Sprintf("A-%d,Number %d\n", i, i)
	}
	folder := testbed.Folder(t, "files", map[string]string{"export.csv": rows, "notes/good.md": "Turn it off.", "notes/bad.md": "Turn it on."})
	for path, want := range map[string]string{
		"export.csv": "written but not embedded: 1 ",
		"notes":      "not written: 1 (import them again): document bad is not written",
	} {
		if err := importFiles(t.Context(), []string{filepath.Join(folder, path)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not contain %q", path, err, want)
		}
	}
	// The project and eight of the ten tickets.
	await(t, owner, 9, `select count(distinct coalesce(ticket_id, 0)) from public.chunks where ticket_id is null or text like 'Number%'`)
	await(t, owner, 1, `select count(*) from public.document_chunks`)
}

// Run as a program: with --prune it removes what an export has lost, and nothing without it, after
// a bad row, of other origins, or if that is much. Output and exit status say which.
func TestImportPrunesAsAProcess(t *testing.T) {
	owner, settings := startStack(t)
	run := func(t *testing.T, tickets string, args ...string) (string, int) {
		t.Helper()
		files, rows := testbed.Folder(t, "files", map[string]string{"projects.jsonl": `{"project_id": "A", "name": "Pumps"}`, "tickets.jsonl": tickets}), t.TempDir()
		importing, err := convertFiles(rows, io.Discard, append(args, files))
		if err != nil {
			t.Fatal(err)
		}
		stream, err := os.Open(filepath.Join(rows, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		command := exec.Command(os.Args[0], append(append([]string{"import"}, importing...), "-")...)
		command.Env, command.Stdin = environment(settings), stream
		output, err := command.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(output), command.ProcessState.ExitCode()
	}
	stored := func() string {
		var all string
		if err := owner.QueryRow(t.Context(), `select (select string_agg(key, ' ' order by key) from tickets) || '; ' || (select string_agg(body, ' ' order by body) from comments)
			|| '; ' || (select count(*) from ticket_links) || '; ' || (select count(distinct coalesce(comment_id, -ticket_id)) from chunks where ticket_id is not null)`).Scan(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	const (
		first = `{"ticket_id": "A-1", "project_id": "A", "name": "Pump leaks", "comments": [{"key": "1", "body": "Seen"}, {"key": "2", "body": "Again"}], "links": [{"kind": "blocks", "key": "A-2"}]}` + "\n"
		rest  = `{"ticket_id": "A-2", "project_id": "A", "name": "Pump hums", "comments": [{"key": "3", "body": "Loud"}]}` + "\n" + `{"ticket_id": "A-3", "project_id": "A", "name": "Pump drips"}` + "\n"
		later = `{"ticket_id": "A-1", "project_id": "A", "name": "Pump leaks", "comments": [{"key": "2", "body": "Again"}], "links": [{"kind": "relates_to", "key": "A-2"}]}` + "\n" +
			`{"ticket_id": "A-2", "project_id": "A", "name": "Pump hums"}` + "\n"
	)
	if output, status := run(t, first+rest); status != 0 || strings.Contains(output, "not in the files") {
		t.Fatalf("status %d: %s", status, output)
	}
	if _, err := owner.Exec(t.Context(), `with p as (insert into projects (key, name) values ('B', 'Pipes') returning project_id)
		insert into tickets (key, project_id, status_id, name) select 'B-1', project_id, (select min(status_id) from status), 'By hand' from p`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, tickets string
		args          []string
		says, stored  string
		status        int
	}{
		{"without --prune", later, nil, "not in the files: 1 tickets, 1 comments, 1 links; removed: 0 tickets, 0 comments, 0 links (that is more than a fifth of the 3 tickets of this origin: are the files a part of the export?)",
			"A-1 A-2 A-3 B-1; Again Loud Seen; 2; 7", 0},
		{"--prune with an invalid row", later + "{\n", []string{"--prune"}, "nothing is removed", "A-1 A-2 A-3 B-1; Again Loud Seen; 2; 7", 1},
		{"--prune with a ticket made by hand", later + `{"ticket_id": "B-1", "project_id": "A", "name": "Not by hand"}`, []string{"--prune", "--prune-many"}, "nothing is removed", "A-1 A-2 A-3 B-1; Again Loud Seen; 2; 7", 1},
		{"--prune with a ticket twice", later + later, []string{"--prune", "--prune-many"}, "nothing is removed", "A-1 A-2 A-3 B-1; Again Loud Seen; 2; 7", 1},
		{"--prune of more than a fifth", later, []string{"--prune"}, "the files lack 1 of the 3 tickets or documents of this origin, more than a fifth", "A-1 A-2 A-3 B-1; Again Loud Seen; 2; 7", 1},
		{"--prune --prune-many", later, []string{"--prune", "--prune-many"}, "removed: 1 tickets, 1 comments, 1 links", "A-1 A-2 B-1; Again Loud; 1; 5", 0},
		{"--prune a second time", later, []string{"--prune"}, "2 tickets and 1 comments", "A-1 A-2 B-1; Again Loud; 1; 5", 0},
	} {
		output, status := run(t, c.tickets, c.args...)
		if status != c.status || !strings.Contains(output, c.says) || stored() != c.stored {
			t.Errorf("%s: status %d, stored %q: %s", c.name, status, stored(), output)
		}
	}
	if _, err := owner.Exec(t.Context(), `insert into comments (ticket_id, key, body) select ticket_id, 'x', 'By the tracker' from tickets where key = 'A-1'`); err != nil {
		t.Fatal(err)
	}
	if output, status := run(t, later); status != 0 || !strings.Contains(output, "not in the files: 0 tickets, 1 comments, 0 links; removed: 0 tickets, 0 comments, 0 links (import with --prune to remove them)") {
		t.Errorf("a comment to remove: status %d: %s", status, output)
	}
	if output, status := run(t, later, "--prune"); status != 0 || !strings.Contains(output, "removed: 0 tickets, 1 comments, 0 links\n") {
		t.Errorf("a comment removed: status %d: %s", status, output)
	}
	if output, status := run(t, later, "--origin", "others"); status != 1 || !strings.Contains(output, "refused: project A: it was imported from jsonl A") ||
		!strings.Contains(output, "3 projects and tickets are refused") {
		t.Errorf("another origin: status %d: %s", status, output)
	}
	if output, status := run(t, later, "--origin", "others", "--prefix", "X-"); status != 0 || stored() != "A-1 A-2 B-1 X-A-1 X-A-2; Again Again Loud; 2; 8" {
		t.Errorf("a prefix: status %d: %q, %s", status, stored(), output)
	}
	if output, status := run(t, later, "--prune", "--now"); status != 2 || stored() != "A-1 A-2 B-1 X-A-1 X-A-2; Again Again Loud; 2; 8" {
		t.Errorf("an unknown option: status %d: %s", status, output)
	}
}

// The files of a folder are one import. It says on standard error how far it is, and at the end
// what it could not take, each kind once with examples.
func TestImportOfAFolder(t *testing.T) {
	owner, settings := startStack(t)
	setEnvironment(t, settings)
	stderr := catchStderr(t)
	first, second := "Issue key,Summary,Created,Outward issue link (Blocks),Resolution\n", "Summary,Issue key,Inward issue link (Blocks),Sprint\n"
	for i := range 120 {
		first += fmt.Sprintf("A-%d,Number %[1]d,soon,B-%[1]d,Fixed\n", i)
	}
	for i := range 60 {
		second += fmt.Sprintf("Number %d,B-%[1]d,,7\n", i)
	}
	folder := testbed.Folder(t, "exports", map[string]string{"1.csv": first, "2.csv": second + "Again,B-7,C-1,\n,B-99,,\n", "README.md": "Exported in May."})
	if err := importFiles(t.Context(), []string{"--text", "", "--labels", "resolution", folder}); err == nil || err.Error() != "left out, as named above: 1 rows or files, 120 fields" {
		t.Fatal(err)
	}
	text := stderr()
	for _, want := range []string{
		"\nimporting: 100 rows, ", "s left\n", "\nembedding: ",
		"warning: " + folder + "/1.csv:2: A-0: Created is left out: \"soon\" is not a date\n", "\nwarning: 115 more like these\n",
		"\nleft out: link A-60 blocks B-60: there is no ticket B-60\n", "\nleft out: 41 more\n",
		"\nleft out: " + folder + "/2.csv:63: B-99: Summary is missing\n",
		"\nrepeated: " + folder + "/2.csv:62: B-7 is at " + folder + "/2.csv:9 too; the last row counts\n",
		"\ncolumns left out, with their number of rows: Sprint (60)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it did not say %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
	await(t, owner, 60, `select count(*) from ticket_links l join tickets t using (ticket_id) join tickets o on o.ticket_id = l.other_ticket_id where t.key like 'A-%' and o.key ilike 'b-%'`)
	await(t, owner, 120, `select count(*) from tickets where labels = '{Resolution: Fixed}' and description is null`)
}
