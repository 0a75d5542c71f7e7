package export

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Keys of every source become ones that queries can name, and the summary says so. No ticket is
// lost for its key.
func TestKeysThatQueriesCanName(t *testing.T) {
	t.Parallel()
	csv := func(key string) string { return "Issue key,Summary,Project key\n" + key + ",n,\n" }
	line := func(key, project string) string {
		return `{"ticket_id":"` + key + `","project_id":"` + project + `","name":"n","links":[{"kind":"blocks","key":"` + key + `"}]}`
	}
	for _, c := range []struct{ file, text, key, project, told string }{
		{"x.csv", csv("TX-400"), "TX-400", "TX", ""},
		{"x.csv", csv("my.app-7"), "my-app-7", "my-app", "my.app-N to my-app-N"},
		{"x.csv", strings.ReplaceAll(strings.ReplaceAll(csv("web/shop-7"), "Issue key,Summary,Project key", "ID,Title,Team"), ",n,", ",n,Web"), "web-shop-7", "web-shop", "web/shop-N to web-shop-N"},
		{"x.json", `{"number":7,"title":"n","url":"https://github.com/vercel/next.js/issues/7"}`, "NEXT-JS-7", "NEXT-JS", "NEXT.JS-N to NEXT-JS-N"},
		{"x.json", `{"key":"a+b-7","fields":{"summary":"n"}}`, "a-b-7", "a-b", "a+b-N to a-b-N"},
		{"tickets.jsonl", line("#12", "Web.Shop"), "Web-Shop-12", "Web-Shop", "#N to Web-Shop-N"},
		{"tickets.jsonl", line("Übung_1-2", "Übung_1"), "Übung_1-2", "Übung_1", ""},
		{"tickets.jsonl", line("S 7", "S"), "S-7", "S", "S N to S-N"},
		{"tickets.jsonl", line("S-7", "My Shop"), "S-7", "My-Shop", "My Shop to My-Shop"},
		{"tickets.jsonl", line("7f3c-a1b", "S"), "S-1934951071995", "S", "made"},
		{"tickets.jsonl", line("9b2e4c1e-3d4a-4b6c-8e7f-0123456789ab", "my.app"), "", "my-app", "made"},
		{"tickets.jsonl", line("ABC", "S"), "", "S", "made"},
		{"tickets.jsonl", line("…", "S"), "", "S", "made"},
		{"tickets.jsonl", line("S-１２", "S"), "", "S", "made"},
		{"tickets.jsonl", line(strings.Repeat("é", 300)+"-1", "S"), "", "S", "made"},
		{"x.csv", strings.ReplaceAll(csv("intake"), ",n,", ",n,S"), "", "S", "made"},
		{"x.csv", csv("intake"), "", "", ""},
		{"x.csv", csv("9b2e4c1e-3d4a-4b6c-8e7f-0123456789ab"), "", "", ""},
		{"tickets.jsonl", line("S-1", "…"), "", "", ""},
		{"x.csv", csv("(-7)"), "", "", ""},
	} {
		path := writeOne(t, c.file, c.text)
		r := open(t, path)
		good, bad, _ := collect(t, r.Tickets())
		if c.project == "" {
			if len(bad) != 1 || len(good) != 0 {
				t.Errorf("%s is not refused: %v", c.text, good)
			}
			continue
		}
		if c.told == "made" {
			c.key = cmp.Or(c.key, good[0].Key)
			is := regexp.MustCompile(`^`+c.project+`-[12][0-9]{12}$`).MatchString(good[0].Key) && strings.HasSuffix(good[0].Description, ": "+good[0].Written)
			if said := slices.Contains(r.Notices(), "keys without a number at their end, which queries cannot name, became a number and the last line of the description: 1"); !is || !said {
				t.Errorf("%s: %v, %q", c.text, good, r.Notices())
			}
			c.told = ""
		}
		if len(good) != 1 || good[0].Key != c.key || good[0].ProjectKey != c.project || len(good[0].Links) > 0 && good[0].Links[0].Key != c.key {
			t.Errorf("%s: %v, %v", c.text, good, bad)
		}
		if said := slices.ContainsFunc(r.Notices(), func(notice string) bool {
			return strings.HasSuffix(notice, "changed so that queries can name them, such as "+c.told+": 1")
		}); said != (c.told != "") {
			t.Errorf("%s: the notices are %q", c.text, r.Notices())
		}
	}
}

// Keys of projects that would become one are refused, not merged.
func TestProjectsOfOneKey(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"spelling": "Issue key,Summary\na.b-1,n\na-b-2,n\n",
		"case":     "Issue key,Summary\nDUP-1,n\ndup-2,n\n",
	} {
		good, bad, _ := collect(t, openCSV(t, file).Tickets())
		if len(good) != 1 || len(bad) != 1 || bad[0].Line != 3 || !strings.Contains(bad[0].Reason, "would have the same project key") {
			t.Errorf("%s: %v, %v", name, good, bad)
		}
	}
	folder := t.TempDir()
	write(t, folder, map[string]string{"tickets.jsonl": "", "projects.jsonl": `{"project_id":"a.b","name":"n"}` + "\n" + `{"project_id":"A-B","name":"m"}` + "\n" + `{"project_id":"a.b","name":"n again"}`})
	if good, bad, _ := collect(t, open(t, folder).Projects()); len(good) != 2 || good[0].Key != "a-b" || len(bad) != 1 || bad[0].Line != 2 {
		t.Errorf("projects: %v, %v", good, bad)
	}
	write(t, folder, map[string]string{"tickets.jsonl": `{"ticket_id":"a-b-1","project_id":"a-b","name":"n"}`})
	if m := convertAll(t, Options{}, folder).manifest; m.Tickets != 1 || m.LeftOut != 1 {
		t.Errorf("a ticket names its project by the key that this got: %+v", m)
	}
	r := openCSV(t, oneExport)
	for prefix, is := range map[string]bool{"ACME-": true, "acme_2": true, "": true, "a.b-": false, "-": false, "a b": false} {
		if err := r.SetPrefix(prefix); (err == nil) != is {
			t.Errorf("the prefix %q: %v", prefix, err)
		}
	}
}
