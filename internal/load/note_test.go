package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tasklens/internal/testbed"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	folder := testbed.Folder(t, "notes", map[string]string{
		"b/Deep.MD":       "No heading.",
		"a.md":            "\uFEFF---\r\ntitle: \"A: title\"\r\ndate: 2025-04-08\r\ntags: [one, 'two three']\r\ntemporal_class: Dated\r\n---\r\n\r\n# Heading\r\nText\r\n",
		"c.markdown":      "```\n# no heading\n```\n## A heading ##\nText",
		"d.md":            "---\ncreated: 2025-04-08T10:00:00Z\nkeywords:\n  - four\n  - five\nnested:\n  title: no\n---\nText",
		"e.md":            "---\nA rule, and no front matter",
		"bad.md":          "\xff",
		"worse.md":        "---\ndate: yesterday\n---\n",
		"class.md":        "---\ntemporal_class: new\n---\n",
		"huge.md":         strings.Repeat("x", maxFile+1),
		"picture.png":     "x",
		".hidden/note.md": "x",
	})
	if err := os.Symlink(filepath.Join(folder, "a.md"), filepath.Join(folder, "link.md")); err != nil {
		t.Fatal(err)
	}
	if !HasNotes(folder) {
		t.Error("HasNotes reports that a folder of notes contains none")
	}
	opened, err := OpenNotes(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []Note
	var bad []string
	for note, err := range opened.All() {
		if err != nil {
			bad = append(bad, err.Error())
		} else {
			got = append(got, note)
		}
	}
	want := []Note{
		{ID: IDOfPath("notes/a.md"), Title: "A: title", Content: "# Heading\nText", Keywords: []string{"one", "two three"}, TemporalClass: "dated", CreatedAt: "2025-04-08T00:00:00Z"},
		{ID: IDOfPath("notes/b/Deep.MD"), Title: "Deep", Content: "No heading."},
		{ID: IDOfPath("notes/c.markdown"), Title: "A heading", Content: "```\n# no heading\n```\n## A heading ##\nText"},
		{ID: IDOfPath("notes/d.md"), Title: "d", Content: "Text", Keywords: []string{"four", "five"}, CreatedAt: "2025-04-08T10:00:00Z"},
		{ID: IDOfPath("notes/e.md"), Title: "e", Content: "---\nA rule, and no front matter"},
	}
	if differ := cmp.Diff(want, got); differ != "" {
		t.Errorf("notes (-want +got):\n%s", differ)
	}
	if len(bad) != 4 || !strings.Contains(bad[0], "bad.md: it is not text") || !strings.Contains(bad[1], "class.md") || !strings.Contains(bad[2], "huge.md") || !strings.Contains(bad[3], "yesterday") {
		t.Errorf("the errors are %q", bad)
	}
	if opened.Len() != len(got)+len(bad) {
		t.Errorf("Len is %d, want the number of notes and errors", opened.Len())
	}
}

// A folder of tickets is not a folder of notes. A single file is opened as a note of its folder.
func TestHasNotes(t *testing.T) {
	t.Parallel()
	folder := testbed.Folder(t, "notes", map[string]string{"projects.jsonl": "", "documents/a.md": "x", "empty/x.txt": ""})
	for where, want := range map[string]bool{"": false, "documents": true, "documents/a.md": true, "empty": false, "empty/x.txt": false, "nowhere": false} {
		if HasNotes(filepath.Join(folder, where)) != want {
			t.Errorf("HasNotes(%q) = %t", where, !want)
		}
	}
	one, err := OpenNotes(filepath.Join(folder, "documents/a.md"))
	if err != nil {
		t.Fatal(err)
	}
	for note, err := range one.All() {
		if err != nil || note.ID != IDOfPath("documents/a.md") {
			t.Errorf("the note is %+v, %v", note, err)
		}
	}
}

// Every file is read as a storable note or returns an error.
func TestNotesAreStorable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"---", "title:", "title: ' x", "tags: [a,", "- b", "# ", "```", "date: 2026-01-31", "\x00"}), rapid.String())).Draw(t, "lines"), "\n")
		checkText(t, text)
	})
}

func FuzzNote(f *testing.F) {
	for _, text := range []string{"", "# A\n\nb", "---\ntitle: 'x'\ntags: [a, b]\ndate: 2026-01-31\n---\n", "---\ntags:\n- a\n---", "```\n# no\n```\n\xff\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkText(t, text) })
}

func checkText(t interface{ Fatalf(string, ...any) }, text string) {
	note, err := parseNote(text)
	if err == nil && (strings.ContainsRune(note.Title+note.Content, 0) || strings.ContainsRune(note.Title, '\n') || len([]rune(note.Title)) > 500 ||
		!utf8.ValidString(note.Title+note.Content)) {
		t.Fatalf("%q was read as %+v", text, note)
	}
}
