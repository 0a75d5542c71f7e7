package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type value struct {
	Label string
	Count int
	Value any
}

type values struct {
	Values map[string][]value
	More   []string
	Capped bool
}

// The values of filters are listed with counts, under the same query and filters.
func TestListValues(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	s.detail()
	for arguments, want := range map[string]string{
		`{"of":"assignee","limit":1}`:                                       "map[assignee:[{Ada 2 <nil>}]] [assignee] false",
		`{"of":"label","filters":{"projects":["TX"],"open":true}}`:          "map[label:[{payments 2 <nil>} {mail 1 <nil>} {web 1 <nil>}]] [] false",
		`{"of":"type","filters":{"types":["Bug"],"projects":["IAM","TX"]}}`: "map[type:[{Bug 3 <nil>} {Task 2 <nil>} {Story 1 <nil>}]] [] false",
		`{"of":"project","query":"assignee:noor"}`:                          fmt.Sprintf("map[project:[{Checkout 1 %v} {Identity 1 %v}]] [] false", s.ids["TX"], s.ids["IAM"]),
	} {
		got := structured[values](s, "list_values", json.RawMessage(arguments))
		if got := strings.ReplaceAll(fmt.Sprint(got.Values, got.More, got.Capped), "]]]", "]]"); got != want {
			t.Errorf("%s: %s, not %s", arguments, got, want)
		}
	}
	all := structured[values](s, "list_values", nil)
	for _, name := range []string{"project", "status", "assignee", "reporter", "type", "priority", "label", "open"} {
		if len(all.Values[name]) == 0 {
			t.Errorf("%s is not among %v", name, all.Values)
		}
	}
}

// Results are easy to read: no escapes, no name before the text again, and one score of duplicates.
func TestResultsAreEasyToRead(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	result := s.tool("search_tickets", map[string]any{"query": "IAM-98", "limit": 1, "fields": []string{"text"}})
	if text := result.Content[0].Text; !strings.Contains(text, `Vec<T> & \"co\" `) || strings.Count(text, "Names with apostrophes") != 1 {
		t.Errorf("search_tickets: %s", text)
	}
	for _, arguments := range []map[string]any{{"text": "The customer was charged twice"}, {"ticket": "TX-401"}} {
		text := s.tool("find_duplicates", arguments).Content[0].Text
		if !strings.Contains(text, `"text":"The payment was retried and the card was charged twice."`) || strings.Count(text, "_score") != strings.Count(text, "duplicate_score") ||
			strings.Contains(text, `"similarity"`) || strings.Contains(text, "_rank") {
			t.Errorf("find_duplicates %v: %s", arguments, text)
		}
	}
}

// Whatever a tool returns as an id, fetch reads: as it is, and as a text. A ticket is read by its
// key and by every address that has it, a document too.
func TestFetchTakesEveryID(t *testing.T) {
	t.Parallel()
	s, documents := startShelf(t)
	s.detail()
	seen := map[string]int{}
	var walk func(tool string, value any)
	walk = func(tool string, value any) {
		switch value := value.(type) {
		case []any:
			for _, one := range value {
				walk(tool, one)
			}
		case map[string]any:
			for name, one := range value {
				if walk(tool, one); one == nil { // a project's own text has no ticket
					continue
				}
				switch name {
				case "id", "ticket_key", "key", "ticket_id", "project_id", "document_id", "chunk_id", "url":
					seen[name]++
					for _, id := range []any{one, fmt.Sprint(one)} {
						if read := structured[fetched](s, "fetch", map[string]any{"id": id}); read.ID == "" || read.Metadata["type"] == nil {
							t.Errorf("%s of %s, %v, is %+v", name, tool, id, read)
						}
					}
				}
			}
		}
	}
	for tool, arguments := range map[string]string{
		"search": `{"query":"payment"}`, "search_tickets": `{"query":"payment","fields":["ticket_id","project_id","links"]}`, "list_projects": `{}`,
		"ask":             `{"question":"Why was the payment charged twice?","corpus":"all","fields":["ticket_id","project_id"]}`,
		"find_duplicates": `{"ticket":"TX-400"}`, "search_documents": `{"query":"payment"}`, "find_entity": `{"name":"a"}`,
	} {
		walk(tool, structured[map[string]any](s, tool, json.RawMessage(arguments)))
	}
	for _, name := range []string{"id", "ticket_key", "key", "ticket_id", "project_id", "url"} {
		if seen[name] == 0 {
			t.Errorf("no tool returned %s: %v", name, seen)
		}
	}
	for id, want := range map[string]string{
		"project:tx": "project:TX", "TX": "project:TX",
		"TX-400": "ticket:TX-400", " tx-400 ": "ticket:TX-400", "ticket:tx-400": "ticket:TX-400", fmt.Sprint("ticket:", s.ids["TX-400"]): "ticket:TX-400",
		s.url + "/#search?q=TX-400&open=TX-400": "ticket:TX-400", "https://jira-2.example.com/browse/TX-400?focusedCommentId=7#comment-7": "ticket:TX-400",
		"https://linear.app/acme/issue/TX-400/charged-twice-2": "ticket:TX-400", "https://example.com/issues?id=tx-400": "ticket:TX-400",
		strings.ToUpper(documents["Payment"]): "document:" + documents["Payment"], "document:" + documents["Payment"]: "document:" + documents["Payment"],
		s.url + "/#documents?id=" + documents["Payment"]: "document:" + documents["Payment"],
	} {
		read := structured[fetched](s, "fetch", map[string]any{"id": id})
		if read.ID != want || read.URL == "" || read.Title == "" || read.Text == "" || !strings.HasPrefix(want, fmt.Sprint(read.Metadata["type"], ":")) {
			t.Errorf("%s is %+v", id, read)
		}
		// A title is not in the text again.
		if want == "ticket:TX-400" && (read.Title != "TX-400 Customer charged twice" || strings.Contains(read.Text, "Customer charged twice") || !strings.Contains(read.Text, "\nThe payment was retried")) {
			t.Errorf("%s is %+v", id, read)
		}
	}
}
