package load_test

import (
	"errors"
	"path/filepath"
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
	run := func(folder string, o options) (load.Summary, error) {
		var r told
		return b.load(t.Context(), b.db, testbed.Folder(t, folder, files), r.report(), o)
	}
	for _, folder := range []string{"notes", "others"} {
		if sum, err := run(folder, options{Prune: true}); err != nil || sum.Written["documents"] != 6 || sum.Removed.Documents != 0 {
			t.Fatalf("%+v, %v", sum, err)
		}
	}
	delete(files, "a.md")
	files["b.md"] = "\xff"
	if sum, err := run("notes", options{}); err != nil || sum.Unlisted.Documents != 1 || sum.Removed.Documents != 0 || sum.Given.LeftOut != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	if sum, err := run("notes", options{Prune: true}); err != nil || sum.Removed.Documents != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	delete(files, "c.md")
	delete(files, "d.md")
	if sum, err := run("notes", options{Prune: true}); !errors.Is(err, load.ErrNotPruned) || sum.Removed.Documents != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if sum, err := run("notes", options{Prune: true, PruneMany: true}); err != nil || sum.Removed.Documents != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
	if n := b.count(t, "select count(*) from documents where origin = 'notes' and title in ('b', 'e', 'f') or origin = 'others'"); n != 9 {
		t.Errorf("%d documents are left", n)
	}
}

// A folder is known by its files, wherever it is: another one of its name changes nothing of it,
// not even a file of the same path, unless the user says that it is the same.
func TestFoldersOfOneName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := func(files map[string]string, path string, o options) (load.Summary, error) {
		var r told
		return b.load(t.Context(), b.db, filepath.Join(testbed.Folder(t, "docs", files), path), r.report(), o)
	}
	pumps := map[string]string{"README.md": "Pumps", "use/start.md": "Start it", "use/stop.md": "Stop it", "parts.md": "Seals"}
	valves := map[string]string{"README.md": "Valves", "sizes.md": "Sizes", "torque.md": "Torque"}
	for _, step := range []struct {
		name    string
		files   map[string]string
		path    string
		options options
		new     int
		refused bool
	}{
		{"first", pumps, "", options{}, 4, false},
		{"from another machine", pumps, "", options{Prune: true}, 0, false},
		{"another folder", valves, "", options{Prune: true, PruneMany: true}, 0, true},
		{"a file of it", valves, "README.md", options{}, 0, true},
		{"by an origin of its own", valves, "", options{Origin: "docs/valves", Prune: true, PruneMany: true}, 3, false},
		{"a part", map[string]string{"README.md": "Pumps", "parts.md": "Seals"}, "", options{}, 0, false},
		{"a new file", map[string]string{"README.md": "Pumps", "new.md": "New"}, "new.md", options{}, 1, false},
		{"half of it moved", map[string]string{"README.md": "Pumps", "parts.md": "Seals", "new.md": "New", "how/start.md": "Start it", "how/stop.md": "Stop it"}, "", options{}, 2, false},
		{"all moved", map[string]string{"x/README.md": "Pumps", "x/parts.md": "Seals"}, "", options{Prune: true, PruneMany: true}, 0, true},
		{"nothing in common", map[string]string{"hoses/README.md": "Hoses"}, "", options{}, 1, false},
		{"all moved, as the same", map[string]string{"x/README.md": "Pumps", "x/parts.md": "Seals"}, "", options{Origin: "docs"}, 2, false},
		{"part of a path", map[string]string{"sizes.md": "Not the valves'"}, "", options{Origin: "docs"}, 1, false},
		{"with a path like the other's", map[string]string{"valves/sizes.md": "Nor this"}, "", options{Origin: "docs"}, 1, false},
	} {
		sum, err := run(step.files, step.path, step.options)
		if step.refused != errors.Is(err, load.ErrRows) || err != nil && !step.refused || sum.Written["new"] != step.new || sum.Removed != (load.Gone{}) {
			t.Errorf("%s: %+v, %v", step.name, sum, err)
		}
	}
	if n := b.count(t, "select count(*) from documents where content in ('Valves', 'Sizes', 'Torque') and origin = 'docs/valves'"); n != 3 {
		t.Errorf("%d documents of the other folder are as they were", n)
	}
}
