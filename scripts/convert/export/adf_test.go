package export

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

const document = `{"version":1,"type":"doc","content":[
 {"type":"heading","attrs":{"level":2},"content":[{"type":"text","text":"Root cause"}]},
 {"type":"paragraph","content":[{"type":"text","text":"See "},{"type":"text","text":"the page","marks":[{"type":"strong"},{"type":"link","attrs":{"href":"https://a.example"}}]},
  {"type":"text","text":", "},{"type":"mention","attrs":{"id":"5b","text":"@Ann"}},{"type":"hardBreak"},{"type":"emoji","attrs":{"shortName":":smile:","text":"☺"}},
  {"type":"date","attrs":{"timestamp":"1741910400000"}},{"type":"text","text":" "},{"type":"status","attrs":{"text":"LATE","color":"red"}}]},
 {"type":"bulletList","content":[
  {"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"one"}]},
   {"type":"orderedList","attrs":{"order":3},"content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"deep"}]}]}]}]},
  {"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"two"}]}]}]},
 {"type":"codeBlock","attrs":{"language":"c"},"content":[{"type":"text","text":"int *a = *b;\nreturn _x_;"}]},
 {"type":"table","content":[{"type":"tableRow","content":[
  {"type":"tableHeader","content":[{"type":"paragraph","content":[{"type":"text","text":"Case"}]}]},
  {"type":"tableHeader","content":[{"type":"paragraph","content":[{"type":"text","text":"Result"}]}]}]}]},
 {"type":"panel","attrs":{"panelType":"info"},"content":[{"type":"paragraph","content":[{"type":"text","text":"Careful"}]}]},
 {"type":"taskList","content":[{"type":"taskItem","attrs":{"state":"DONE"},"content":[{"type":"text","text":"ask Bob"}]}]},
 {"type":"expand","attrs":{"title":"Logs"},"content":[{"type":"paragraph","content":[{"type":"inlineCard","attrs":{"url":"https://b.example"}}]}]},
 {"type":"rule"},{"type":"mediaSingle","content":[{"type":"media","attrs":{"id":"x","alt":"screen.png"}}]},
 {"type":"newThing","content":[{"type":"paragraph","content":[{"type":"text","text":"kept"}]},{"type":"paragraph","content":[{"type":"text","text":"too"}]}]}]}`

func TestADF(t *testing.T) {
	t.Parallel()
	got, is := readADF(json.RawMessage(document), nil)
	want := "## Root cause\n\nSee **the page** (https://a.example), @Ann\n☺2025-03-14 LATE\n\n- one\n   3. deep\n- two\n\n" +
		"```c\nint *a = *b;\nreturn _x_;\n```\n\nCase | Result\n\nCareful\n\n- [x] ask Bob\n\nLogs\nhttps://b.example\n\nscreen.png\n\nkept\n\ntoo"
	if !is || got != want {
		t.Errorf("%t\n got %q\nwant %q", is, got, want)
	}
	for _, bad := range []string{"", "null", "{}", `"x"`, `{"type":"paragraph"}`, `{"type":"doc","content":"x"}`, `{"type":"doc"`} {
		if got, is := readADF(json.RawMessage(bad), nil); is {
			t.Errorf("readADF(%s) = %q, want none", bad, got)
		}
	}
}

// The states of tasks and decisions stay, a cell of a table is one line, and what only who writes
// sees is left out.
func TestADFStatesCellsAndCards(t *testing.T) {
	t.Parallel()
	text := func(text string) string { return `{"type":"text","text":"` + text + `"}` }
	block := func(kind, attrs string, content ...string) string {
		return `{"type":"` + kind + `","attrs":{` + attrs + `},"content":[` + strings.Join(content, ",") + `]}`
	}
	item := func(words string) string { return block("listItem", "", block("paragraph", "", text(words))) }
	for want, content := range map[string]string{
		"- [x] oil\n- [ ] grease\n   - [x] twice": block("taskList", "", block("taskItem", `"state":"DONE"`, text("oil")), block("taskItem", `"state":"TODO"`, text("grease")),
			block("taskList", "", block("blockTaskItem", `"state":"DONE"`, block("paragraph", "", text("twice"))))),
		"- Decision: in May\n- Open decision: where": block("decisionList", "", block("decisionItem", `"state":"DECIDED"`, text("in May")), block("decisionItem", `"state":"UNDECIDED"`, text("where"))),
		"Hall North | - cranes - lifts 1. one | - [x] swept | `a b`\nHall South | x": block("table", "",
			block("tableRow", "", block("tableHeader", "", block("paragraph", "", text("Hall")), block("paragraph", "", text("North"))),
				block("tableCell", "", block("bulletList", "", item("cranes"), item("lifts")), block("orderedList", "", item("one"))),
				block("tableCell", "", block("taskList", "", block("taskItem", `"state":"DONE"`, text("swept")))),
				block("tableCell", "", block("paragraph", "", `{"type":"text","text":"a b","marks":[{"type":"code"}]}`))),
			block("tableRow", "", block("tableCell", "", block("paragraph", "", text("Hall"), `{"type":"hardBreak"}`, text("South"))), block("tableCell", "", block("paragraph", "", text("x"))))),
		" | new\nHall |  | 5": block("table", "",
			block("tableRow", "", block("tableCell", "", `{"type":"paragraph"}`), block("tableCell", "", block("paragraph", "", text("new")))),
			block("tableRow", "", block("tableCell", "", `{"type":"paragraph"}`), block("tableCell", "")),
			block("tableRow", "", block("tableCell", "", block("paragraph", "", text("Hall"))), block("tableCell", ""), block("tableCell", "", block("paragraph", "", text("5"))))),
		"before\n\nafter":                     block("paragraph", "", text("before")) + "," + block("paragraph", "", `{"type":"placeholder","attrs":{"text":"Steps"}}`) + "," + block("paragraph", "", text("after")),
		"https://a.example https://b.example": block("paragraph", "", `{"type":"inlineCard","attrs":{"url":"https://a.example"}}`, text(" "), `{"type":"inlineCard","attrs":{"data":{"@type":"Page","url":"https://b.example"}}}`),
		"https://c.example":                   `{"type":"blockCard","attrs":{"data":{"url":"https://c.example","name":"Plan"}}},{"type":"embedCard","attrs":{"data":7}}`,
	} {
		if got, is := readADF([]byte(`{"type":"doc","content":[`+content+`]}`), nil); !is || got != want {
			t.Errorf("%t\n got %q\nwant %q", is, got, want)
		}
	}
}

// Empty blocks and items leave neither separators nor markers, at any depth.
func TestEmptyBlocks(t *testing.T) {
	t.Parallel()
	const empty = `{"type":"paragraph"}`
	const items = `{"type":"orderedList","content":[{"type":"listItem","content":[` + empty + `]},
		{"type":"listItem","content":[` + empty + `,{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"text","text":"deep"}]}]}]},
		{"type":"bulletList","content":[{"type":"listItem","content":[` + empty + `]}]},
		{"type":"bulletList","content":[{"type":"taskItem","content":[{"type":"text","text":"beside"}]}]},
		{"type":"listItem","content":[{"type":"text","text":"two"}]}]}`
	got, is := readADF(json.RawMessage(`{"type":"doc","content":[`+empty+`,{"type":"panel","content":[`+empty+`]},`+items+`,`+empty+`,{"type":"text","text":"end"}]}`), nil)
	if want := "2.    - deep\n   - beside\n5. two\n\nend"; !is || got != want {
		t.Errorf("%t\n got %q\nwant %q", is, got, want)
	}
}

// The cost does not grow with the depth: text under 2,000 levels is written once, like text under
// 2.
func TestDepthCostsNothing(t *testing.T) {
	text := strings.Repeat("deep ", 200_000)
	for _, level := range []struct{ name, open, end string }{
		{"quotations", `{"type":"blockquote","content":[`, `]}`},
		{"lists", `{"type":"bulletList","content":[{"type":"listItem","content":[`, `]}]}`},
	} {
		cost := map[int]uint64{}
		for _, depth := range []int{2, 2000} {
			adf := json.RawMessage(`{"type":"doc","content":[` + strings.Repeat(level.open, depth) + `{"type":"text","text":"` + text + `"}` + strings.Repeat(level.end, depth) + `]}`)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, is := readADF(adf, nil)
			runtime.ReadMemStats(&after)
			cost[depth] = after.TotalAlloc - before.TotalAlloc
			if !is || !strings.HasSuffix(got, text) || len(got) > len(text)+depth*len("                        2000. ") {
				t.Errorf("%d %s: %d characters, %t", depth, level.name, len(got), is)
			}
		}
		if cost[2000] > 3*cost[2] {
			t.Errorf("%d bytes are allocated for 2 %s, %d for 2,000", cost[2], level.name, cost[2000])
		}
	}
}

func FuzzADF(f *testing.F) {
	f.Add([]byte(document))
	f.Add([]byte(`{"type":"doc","content":[{"type":"text","text":"` + strings.Repeat("x", 10) + `"}]}`))
	f.Fuzz(func(t *testing.T, adf []byte) {
		text, is := readADF(adf, nil)
		if is && !utf8.ValidString(text) {
			t.Fatalf("Document returned invalid UTF-8: %q", text)
		}
	})
}
