package export

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, "notes", map[string]string{
		"b/Deep.MD":       "No heading.",
		"a.md":            "\uFEFF---\r\ntitle: \"A: title\"\r\ndate: 2025-04-08\r\ntags: [one, 'two three']\r\ntemporal_class: Dated\r\n---\r\n\r\n# Heading\r\nText\r\n",
		"c.markdown":      "```\n# no heading\n```\n## A heading ##\nText",
		"d.md":            "---\ncreated: 2025-04-08T10:00:00Z\nkeywords:\n  - four\n  - five\nnested:\n  title: no\n---\nText",
		"e.md":            "---\nA rule, and no front matter",
		"bad.md":          "\xff",
		"excel.md":        "\xff\xfe#\x00 \x00\xd3\x00",
		"nul.md":          "a\x00b",
		"ours.md":         "---\nvisibility: internal\n---\nText",
		"own.md":          "---\npublic: false\n---\nText",
		"pay.md":          "---\ntitle: Pay\nprivate: yes\n---\nText",
		"plan.md":         "+++\ntitle = Plan\ndraft = true\n[params]\nx = 1\n+++\nText",
		"export.csv":      "Vorgang;Zusammenfassung\n",
		"page.json":       `{"issues":[{"key":"A-1"`,
		"good.csv":        "Issue key,Summary\nA-1,n\n",
		"b/data.csv":      "a,b",
		"huge.md":         strings.Repeat("x", maxFile+1),
		"picture.png":     "x",
		".hidden/note.md": "x",
	})
	if err := os.Symlink(filepath.Join(folder, "a.md"), filepath.Join(folder, "link.md")); err != nil {
		t.Fatal(err)
	}
	if !hasNotes(folder) {
		t.Error("hasNotes reports that a folder of notes contains none")
	}
	opened, err := openNotes(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []Document
	var bad []string
	_ = opened.all(func(note Document, err error) error {
		if err != nil {
			bad = append(bad, err.Error())
		} else {
			got = append(got, note)
		}
		return nil
	})
	want := []Document{
		{Path: "a.md", File: "a.md", Title: "A: title", Content: "# Heading\nText", Keywords: []string{"one", "two three"}, TemporalClass: "dated", CreatedAt: "2025-04-08T00:00:00Z"},
		{Path: "b/Deep.MD", File: "b/Deep.MD", Title: "Deep", Content: "No heading."},
		{Path: "c.markdown", File: "c.markdown", Title: "A heading", Content: "```\n# no heading\n```\n## A heading ##\nText"},
		{Unread: []string{"nested"}, Path: "d.md", File: "d.md", Title: "d", Content: "Text", Keywords: []string{"four", "five"}, CreatedAt: "2025-04-08T10:00:00Z"},
		{Path: "e.md", File: "e.md", Title: "e", Content: "---\nA rule, and no front matter"},
		{Path: "excel.md", File: "excel.md", Title: "Ó", Content: "# Ó"},
	}
	if differ := cmp.Diff(want, got); differ != "" {
		t.Errorf("notes (-want +got):\n%s", differ)
	}
	for i, want := range []string{"export.csv: open import: ", "good.csv: it is an export of tickets", "page.json: open import: ", "bad.md: it is not valid", "huge.md: it is longer", "nul.md: it has NUL bytes",
		"ours.md: left out: its front matter says visibility: internal", "own.md: left out: its front matter says public: false", "pay.md: left out: its front matter says private: yes", "plan.md: left out: its front matter says draft: true"} {
		if i >= len(bad) || !strings.HasPrefix(bad[i], want) || len(bad) != 10 {
			t.Errorf("the errors are %q, want %q", bad, want)
		}
	}
	if slices.Contains(opened.known, "pay.md") || !slices.Contains(opened.known, "nul.md") {
		t.Error("pruning keeps a private note, or removes one that cannot be read")
	}
	if len(opened.links) != 1 || opened.links[0] != "link.md" {
		t.Errorf("the links that are named are %v", opened.links)
	}
}

// Front matter never costs a note its text: what cannot be read is named, and the rest is read.
func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Document{
		"---\ntitle: Runbook: restart the pump\ntags: [a, b]\n---\nText":                                        {Title: "Runbook: restart the pump", Content: "Text", Keywords: []string{"a", "b"}},
		"---\ntitle: {{title}}\ncreated: <% tp.date %>\n---\n# A\nText":                                         {Title: "A", Content: "# A\nText", Problems: []string{`title "{{title}}" is left out: it is a placeholder`, `created "<% tp.date %>" is left out: it is a placeholder`}},
		"---\ntitle: A\ntitle: B\ntags: x, y z\n---\nText":                                                      {Title: "A", Content: "Text", Keywords: []string{"x", "y z"}, Problems: []string{"title is there twice: the first counts"}},
		"---\ntags:\n\t- a\n\t- b\nup: [[A]], [[B]]\ndate: soon\ncreated: 2025-03-14 09:12:00 +0100\n---\nText": {Unread: []string{"up"}, Content: "Text", Keywords: []string{"a", "b"}, CreatedAt: "2025-03-14T08:12:00Z"},
		"---\ntemporal_class: Newest\ndate: soon\ntitle: A\n---\nText":                                          {Title: "A", Content: "Text", Problems: []string{`temporal_class "Newest" is left out: it is none of evergreen current dated historical unknown`, `date "soon" is left out: it is not a date`}},
		"---\ntags: [a,\n  b\ntitle: A\ndate created: 2025-03-14\n---\nText":                                    {Unread: []string{"date created"}, Title: "A", Content: "Text", Problems: []string{"tags is left out: it is not valid YAML"}},
		"---\nA rule: and text.\n\nMore of it.\n\n---\nText":                                                    {Content: "---\nA rule: and text.\n\nMore of it.\n\n---\nText"},
		"---\nprivate: false\npublic: true\n---\nText":                                                          {Content: "Text"},
		"---\n---\nText":           {Content: "Text"},
		"---\n- a\n- b\n---\nText": {Content: "---\n- a\n- b\n---\nText"},
		"+++\ntitle = \"A = B\"\ndate = 2025-03-14T09:12:00+01:00\ntags = [\"a\", \"b\"]\n[params]\ntitle = \"no\"\n+++\nText": {Unread: []string{"params"}, Title: "A = B", Content: "Text", Keywords: []string{"a", "b"}, CreatedAt: "2025-03-14T08:12:00Z"},
		"+++\ntitle = {{ .Name }}\n+++\nText":                              {Content: "Text"},
		"{\n  \"title\": \"A: B\",\n  \"tags\": [\"a\", \"b\"]\n}\n\nText": {Title: "A: B", Content: "Text", Keywords: []string{"a", "b"}},
		"{\"only\": \"JSON\"}":                                             {Content: "{\"only\": \"JSON\"}"},
		"\n\n---\ntitle: A\n---\nText":                                     {Title: "A", Content: "Text"},
		"# {{title}}\nText":                                                {Content: "# {{title}}\nText"},
		"# The {{title}} placeholder\nText":                                {Title: "The {{title}} placeholder", Content: "# The {{title}} placeholder\nText"},
		"+++\nno = matter":                                                 {Content: "+++\nno = matter"},
		"A title\n===\n\n# Another":                                        {Title: "A title", Content: "A title\n===\n\n# Another"},
		"> quoted\n---\n<!-- # hidden -->\n```\nA\n===\n```\nB *b*\n--\n":  {Title: "B *b*", Content: "> quoted\n---\n<!-- # hidden -->\n```\nA\n===\n```\nB *b*\n--"},
		"<h1 align=\"center\">\n<img src=\"a.png\"> The <b>pump</b>\n</h1>\n\n## Second": {Title: "The pump", Content: "<h1 align=\"center\">\n<img src=\"a.png\"> The <b>pump</b>\n</h1>\n\n## Second"},
	} {
		got, err := parseNote(text, "")
		if strings.HasPrefix(text, "+++\ntitle = {{") {
			if len(got.Problems) != 2 || !strings.HasPrefix(got.Problems[0], "the front matter is read line by line: toml: ") {
				t.Errorf("%q: the problems are %q", text, got.Problems)
			}
			got.Problems = nil
		}
		if differ := cmp.Diff(want, got); err != nil || differ != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, differ)
		}
	}
}

// A note that may not be for everybody is asked about, and stays if it is there; one that is not
// goes.
func TestPrivateNotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"---\nprivate: true\n---\nText":    "left out: its front matter says private: true",
		"---\ninternal_ref: 17\n---\nText": "its front matter has internal_ref, and every user reads documents: --restricted keep",
		"---\nprivate: {{x}}\n---\nText":   "left out: its front matter says private: x",
		"---\nprivate: false\n---\nText":   "",
	} {
		for _, restricted := range []string{"", "omit", "keep"} {
			_, err := parseNote(text, restricted)
			if restricted == "keep" || want == "" {
				if err != nil {
					t.Errorf("%q, %s: %v", text, restricted, err)
				}
				continue
			}
			if err == nil || restricted == "" && !strings.HasPrefix(err.Error(), want) || errors.Is(err, errPrivate) == (restricted == "" && strings.Contains(want, "has")) {
				t.Errorf("%q, %s: %v", text, restricted, err)
			}
		}
	}
}

// A folder of tickets is not a folder of notes. A single file is opened as a note of its folder.
func TestHasNotes(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, "notes", map[string]string{"projects.jsonl": "", "documents/a.md": "x", "empty/x.txt": "", "exports/README.md": "x", "exports/x.csv": oneExport})
	for where, want := range map[string]bool{"": false, "exports": false, "documents": true, "documents/a.md": true, "empty": false, "empty/x.txt": false, "nowhere": false} {
		if hasNotes(filepath.Join(folder, where)) != want {
			t.Errorf("hasNotes(%q) = %t", where, !want)
		}
	}
	one, err := openNotes(filepath.Join(folder, "documents/a.md"))
	if err != nil {
		t.Fatal(err)
	}
	_ = one.all(func(note Document, err error) error {
		if err != nil || note.Path != "a.md" || one.name != "documents" {
			t.Errorf("the note is %+v of %s, %v", note, one.name, err)
		}
		return nil
	})
}

func FuzzNote(f *testing.F) {
	for _, text := range []string{"", "# A\n\nb", "---\ntitle: 'x'\ntags: [a, b]\ndate: 2026-01-31\n---\n", "---\ntags:\n- a\n---", "```\n# no\n```\n\xff\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkNote(t, text) })
}

func checkNote(t interface{ Fatalf(string, ...any) }, text string) {
	note, err := parseNote(text, "")
	if err == nil && (strings.ContainsRune(note.Title+note.Content, 0) || strings.ContainsRune(note.Title, '\n') || len([]rune(note.Title)) > 500 ||
		!utf8.ValidString(note.Title+note.Content)) {
		t.Fatalf("%q was read as %+v", text, note)
	}
}
