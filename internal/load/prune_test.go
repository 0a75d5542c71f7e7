package load_test

import (
	"errors"
	"testing"

	"tasklens/internal/load"
	"tasklens/internal/testbed"
)

// A document goes with its file, if that is asked for: not that of a file that cannot be read, of
// another folder, or of none; and not many at once.
func TestPruneNotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	files := map[string]string{"a.md": "A", "b.md": "B", "c.md": "C", "d.md": "D", "e.md": "E", "f.md": "F"}
	run := func(folder string, options load.Options) (load.Summary, error) {
		notes, err := load.OpenNotes(testbed.Folder(t, folder, files))
		if err != nil {
			t.Fatal(err)
		}
		var r told
		return load.LoadNotes(t.Context(), b.db, notes, r.report(), options)
	}
	for _, folder := range []string{"notes", "others"} {
		if sum, err := run(folder, load.Options{Prune: true}); err != nil || sum.Documents != 6 || sum.Removed.Documents != 0 {
			t.Fatalf("%+v, %v", sum, err)
		}
	}
	delete(files, "a.md")
	files["b.md"] = "\xff"
	if sum, err := run("notes", load.Options{}); err != nil || sum.Unlisted.Documents != 1 || sum.Removed.Documents != 0 || sum.BadRows != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	if sum, err := run("notes", load.Options{Prune: true}); err != nil || sum.Removed.Documents != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	delete(files, "c.md")
	delete(files, "d.md")
	if sum, err := run("notes", load.Options{Prune: true}); !errors.Is(err, load.ErrNotPruned) || sum.Removed.Documents != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if sum, err := run("notes", load.Options{Prune: true, PruneMany: true}); err != nil || sum.Removed.Documents != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
	if n := b.count(t, "select count(*) from documents where origin = 'notes' and title in ('b', 'e', 'f') or origin = 'others'"); n != 9 {
		t.Errorf("%d documents are left", n)
	}
}
