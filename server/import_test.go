package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An error that stops an import names the setting to check. Bad rows alone do not stop it.
func TestImportSaysWhatStoppedIt(t *testing.T) {
	_, settings := startStack(t)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"code":"invalid_api_key","message":"no"}}`))
	}))
	t.Cleanup(refusing.Close)
	gone := httptest.NewServer(nil)
	gone.Close()

	const header, good, bad = "Issue key,Summary\n", "A-1,Good\n", "A-2,\n"
	for _, c := range []struct{ name, rows, model, want string }{
		{"the model is out of reach", good, strings.Replace(gone.URL, "//", "//user:secret@", 1) + "/v1", "OPENAI_BASE_URL, http://user:xxxxx@"},
		{"the key is refused", good, refusing.URL + "/v1", "refuses OPENAI_API_KEY"},
		{"no good row", bad + bad, settings["OPENAI_BASE_URL"], "none of 2 rows is good"},
		{"some good rows", good + bad, settings["OPENAI_BASE_URL"], ""},
		{"no rows", "", settings["OPENAI_BASE_URL"], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			setEnvironment(t, with(settings, "OPENAI_BASE_URL", c.model))
			file := filepath.Join(t.TempDir(), "export.csv")
			if err := os.WriteFile(file, []byte(header+c.rows), 0o600); err != nil {
				t.Fatal(err)
			}
			err := importFiles(t.Context(), []string{file})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v does not say %q", err, c.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("a password is told: %v", err)
			}
		})
	}
}

// Rows that the database rejects are reported at the end and by the exit status.
func TestImportSaysWhatIsMissing(t *testing.T) {
	owner, settings := startSlowStack(t)
	for _, statement := range []string{
		`create function private.be_slower() returns trigger language plpgsql as 'begin perform pg_sleep(2); return new; end'`,
		`create trigger be_slower before insert on public.tickets for each row when (new.key = 'A-3') execute function private.be_slower()`,
		`create trigger be_slower before insert on public.documents for each row when (new.title = 'bad') execute function private.be_slower()`,
		`create trigger be_slower before insert on public.chunks for each row when (new.text = 'Number 5') execute function private.be_slower()`,
	} {
		if _, err := owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	setEnvironment(t, settings)
	folder := t.TempDir()
	rows := "Issue key,Summary\n"
	for i := range 10 {
		rows += fmt.Sprintf("A-%d,Number %d\n", i, i)
	}
	for name, text := range map[string]string{"export.csv": rows, "notes/good.md": "Turn it off.", "notes/bad.md": "Turn it on."} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"export.csv": "1 rows are not written: import them again; 1 are written but not indexed",
		"notes":      "1 files are not written: import them again; 0 are written but not indexed",
	} {
		if err := importFiles(t.Context(), []string{filepath.Join(folder, path)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not say %q", path, err, want)
		}
	}
	// The project and eight of the ten tickets.
	await(t, owner, 9, `select count(distinct coalesce(ticket_id, 0)) from public.chunks where ticket_id is null or text like 'Number%'`)
	await(t, owner, 1, `select count(*) from public.document_chunks`)
}
