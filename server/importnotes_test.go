package main

import (
	"strings"
	"testing"

	"tasklens/internal/testbed"
)

// A folder of notes becomes documents. Imported again, the same paths are the same documents,
// wherever the folder is.
func TestImportNotes(t *testing.T) {
	tracker, settings := startStack(t)
	setEnvironment(t, settings)
	load := func(files map[string]string, options ...string) error {
		t.Helper()
		err := importFiles(t.Context(), append(options, testbed.Folder(t, "notes", files)))
		if len(files) > 1 && files["bad.md"] != "" && err != nil && err.Error() == "left out, as named above: 1 rows or files, 0 fields" {
			return nil
		}
		return err
	}
	count := func(want int, condition string) {
		t.Helper()
		var got int
		if err := tracker.QueryRow(t.Context(), "select count(*) from public.documents where "+condition).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%d documents, want %d, where %s", got, want, condition)
		}
	}
	first := map[string]string{"raft.md": "---\ntags: [consensus]\ndate: 2025-04-08\n---\n# Raft\nReplicas agree.", "deep/lunch.md": "Soup.", "bad.md": "\xff"}
	if err := load(first); err != nil {
		t.Fatal(err)
	}
	count(2, "embedding_status = 'complete'")
	count(1, "title = 'Raft' and content = e'# Raft\\nReplicas agree.' and keywords = '{consensus}' and created_at = '2025-04-08Z'")
	count(1, "title = 'lunch'")
	// The queue is empty: an import embeds what it writes.
	await(t, tracker, 0, "select count(*) from tasklens.embedding_jobs")

	if _, err := tracker.Exec(t.Context(), "update public.documents set utility_score = 3; create table before as select * from public.documents"); err != nil {
		t.Fatal(err)
	}
	if err := load(first); err != nil {
		t.Fatal(err)
	}
	count(2, "exists (select from before b where b.id = documents.id and b.updated_at = documents.updated_at)")
	if err := load(map[string]string{"raft.md": "# Raft\nReplicas agree by a majority.", "deep/lunch.md": "Soup."}); err != nil {
		t.Fatal(err)
	}
	count(1, "content like '%majority.' and utility_score = 3 and keywords = '{consensus}' and created_at = '2025-04-08Z' and embedding_status = 'complete'")
	count(2, "true")
	if err := load(first, "--prefix", "X-"); err == nil {
		t.Error("notes are imported with a prefix")
	}
	if err := load(map[string]string{"bad.md": "\xff"}, "--origin", "bad"); err == nil || !strings.Contains(err.Error(), "none of 1 rows is good") {
		t.Errorf("with no valid file the error is %v", err)
	}
}
