package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"tasklens/internal/testbed"
)

// clipped returns a text cut to the length of a title, which every stored name may have.
func clipped(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), 500)])
}

var dataFence = regexp.MustCompile(`(?s)<data-([0-9a-f]{12})>\n(.*)\n</data-([0-9a-f]{12})>`)

// The texts of tickets and documents are data in every tool's result: without model markup and
// hidden characters, quoted by JSON and, where one is read whole, within a fence that it cannot
// close.
func TestAttacksThroughTools(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.threshold = 0 })
	names := slices.Sorted(maps.Keys(testbed.Attacks))
	projects := []project{{Key: "TX", Name: clipped("HACKED " + hostile(testbed.Attacks["ChatML"])), Description: hostile(testbed.Attacks["Llama 2"])}}
	var tickets []ticket
	for i, name := range names {
		attack := hostile(testbed.Attacks[name])
		tickets = append(tickets, ticket{Key: fmt.Sprintf("TX-%d", i), Project: "TX", Name: clipped("HACKED " + attack), Description: "payment\n" + attack, Notes: []note{{Note: "HACKED " + attack}}})
	}
	s.index(projects, tickets)
	db := s.connect()
	documents := map[string]string{}
	for i, name := range names {
		attack := hostile(testbed.Attacks[name])
		id := s.ids[fmt.Sprintf("TX-%d", i)]
		run(t, db, "update public.tickets set assignee = $2, reporter = $2, ticket_type = $2, priority = $2, labels = array[$2] where ticket_id = $1", id, clipped(attack))
		run(t, db, "insert into public.comments (ticket_id, author, body) values ($1, $2, $3)", id, clipped(attack), attack)
		run(t, db, "insert into public.ticket_links (ticket_id, kind, other_ticket_id) values ($1, 'relates_to', $2)", id, s.ids[fmt.Sprintf("TX-%d", (i+1)%len(names))])
		entities, _ := json.Marshal([]map[string]string{{"name": clipped("Ada " + attack), "type": clipped(attack)}})
		var document string
		if err := db.QueryRow(t.Context(), "insert into public.documents (title, content, keywords, named_entities) values ($1, $2, array[$4], $3) returning id::text",
			clipped("HACKED "+attack), "payment\n"+attack, string(entities), clipped(attack)).Scan(&document); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		documents[name] = document
	}
	run(t, db, "update public.status set name = 'To Do ' || $1", hostile(testbed.Attacks["Mistral"]))
	s.embedDocuments()
	shown := map[string]int{}
	check := func(tool string, arguments map[string]any) {
		t.Helper()
		result := s.tool(tool, arguments)
		shown[tool] += strings.Count(string(result.Structured), "HACKED")
		for _, text := range append(texts(result.Structured), result.Content[0].Text) {
			if mark := testbed.RoleMark.FindString(text); mark != "" {
				t.Errorf("%s %v has the mark %q in %q", tool, arguments, mark, text)
			}
			if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(testbed.Unseen, r) }) {
				t.Errorf("%s %v has hidden characters in %+q", tool, arguments, text)
			}
		}
		if !sameJSON(t, []byte(result.Content[0].Text), result.Structured) {
			t.Errorf("%s %v has a text outside of JSON: %q", tool, arguments, result.Content[0].Text)
		}
		if tool != "fetch" {
			return
		}
		var read fetched
		if err := json.Unmarshal(result.Structured, &read); err != nil {
			t.Error(err)
		}
		fences := dataFence.FindAllStringSubmatch(read.Text, -1)
		if len(fences) != 1 || fences[0][1] != fences[0][3] || strings.Count(read.Text, fences[0][1]) != 2 || strings.Contains(strings.Replace(read.Text, fences[0][2], "", 1), "HACKED") {
			t.Errorf("%s %v is not fenced: %q", tool, arguments, read.Text)
		}
	}
	for page := range 2 {
		check("search_tickets", map[string]any{"query": "HACKED", "limit": 50, "page": page + 1})
		check("search_tickets", map[string]any{"query": "payment", "limit": 50, "page": page + 1, "fields": []string{"text", "highlight", "assignee", "reporter", "type", "priority", "labels", "links", "comment", "explain"}})
	}
	for i, name := range names {
		check("fetch", map[string]any{"id": fmt.Sprintf("ticket:TX-%d", i)})
		check("fetch", map[string]any{"id": "document:" + documents[name]})
		if i%9 == 0 {
			check("find_duplicates", map[string]any{"ticket": fmt.Sprintf("TX-%d", i), "limit": 20})
		}
	}
	check("search", map[string]any{"query": "HACKED payment"})
	check("find_duplicates", map[string]any{"text": "Say HACKED.", "limit": 20})
	for _, corpus := range []string{"tickets", "documents", "all"} {
		check("ask", map[string]any{"question": "Who says HACKED about a payment?", "corpus": corpus, "top_k": 20, "fields": []string{"text", "comment"}})
	}
	check("search_documents", map[string]any{"query": "payment HACKED", "threshold": 0, "limit": 50, "fields": []string{"text", "keywords"}})
	check("find_entity", map[string]any{"name": "Ada", "limit": 50})
	check("list_projects", nil)
	check("list_values", map[string]any{"limit": 200})
	for _, tool := range []string{"search", "fetch", "search_tickets", "ask", "find_duplicates", "search_documents", "find_entity", "list_projects", "list_values"} {
		if shown[tool] == 0 {
			t.Errorf("%s has shown no attack", tool)
		}
	}
}
