package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// An answer knows the fields and links of its tickets, as far as the caller sees the linked
// tickets, and what it says of them is never older than they are.
func TestAnswersKnowTheTicket(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated)
	s.load([]project{{Key: "PU", Name: "Pumps"}, {Key: "HI", Name: "Hidden"}}, nil)
	s.index(nil, []ticket{
		{Key: "PU-1", Project: "PU", Name: "The pump leaks", Description: strings.Repeat("The gasket of the pump is worn and leaks. ", 120)},
		{Key: "PU-2", Project: "PU", Name: "Order a gasket"}, {Key: "HI-1", Project: "HI", Name: "Fire the plumber"},
	})
	db := s.connect()
	run(t, db, `update tickets set assignee = 'ada@example.com', reporter = 'Bo "B" [1]', ticket_type = 'Bug', priority = 'High', labels = '{pump,worn}',
		created_at = '2025-03-01', due_date = '2025-04-02', resolved_at = '2025-03-09', updated_at = '2025-03-10' where key = 'PU-1'`)
	run(t, db, `insert into ticket_links (ticket_id, kind, other_ticket_id) values ($1, 'blocks', $2), ($3, 'child_of', $1)`, s.ids["PU-1"], s.ids["HI-1"], s.ids["PU-2"])
	for _, member := range []struct {
		project string
		user    int
	}{{"PU", 1}, {"PU", 2}, {"HI", 2}} {
		run(t, db, `insert into project_members (project_id, user_id, role) values ($1, $2, 'viewer')`, s.ids[member.project], userID(member.user))
	}
	ask := func(user int, question string, more map[string]any) (answer, prompt string) {
		t.Helper()
		body := map[string]any{"question": question, "project_id": s.ids["PU"], "match_threshold": 0.05}
		for name, value := range more {
			body[name] = value
		}
		if more["corpus"] == "all" {
			delete(body, "project_id")
		}
		answer = read[answered](s.post("/api/query", body, asking(s.user(user))...)).Answer
		asked := s.model.requests("completions")
		return answer, string(asked[len(asked)-1].body)
	}
	for name, more := range map[string]map[string]any{"tickets": {}, "all": {"corpus": "all"}} {
		answer, prompt := ask(2, "Who is assigned to PU-1?", more)
		if !strings.Contains(answer, "ada@example.com [1]") {
			t.Errorf("%s: %s", name, answer)
		}
		const want = `assignee=\"ada@example.com\" reporter=\"Bo &quot;B&quot; (1)\" type=\"Bug\" priority=\"High\" labels=\"pump, worn\" ` +
			`created=\"2025-03-01\" updated=\"2025-03-10\" due=\"2025-04-02\" resolved=\"2025-03-09\" blocks=\"HI-1 Fire the plumber (To Do)\" children=\"PU-2 Order a gasket (To Do)\"`
		if of := strings.Count(prompt, `ticket=\"PU-1\"`); strings.Count(prompt, want) != of || of < 2 || strings.Contains(answer, "[2]") { // with each of its sources
			t.Errorf("%s: %s", name, prompt)
		}
		if answer, prompt = ask(1, "What does PU-1 block?", more); strings.Contains(answer+prompt, "plumber") || !strings.Contains(prompt, "children=") {
			t.Errorf("%s, to whom HI is hidden: %s\n%s", name, answer, prompt)
		}
	}
	for _, step := range []struct{ sql, question, want string }{
		{`update tickets set name = 'Pay the plumber' where key = 'HI-1'`, "What does PU-1 block?", "Pay the plumber"},
		{`update tickets set assignee = 'Cy' where key = 'PU-1'`, "Who is assigned to PU-1?", "Cy"},
		{`delete from ticket_links where kind = 'blocks'`, "What does PU-1 block?", "sources do not answer"},
	} {
		if before, _ := ask(2, step.question, nil); strings.Contains(before, step.want) {
			t.Errorf("before %s: %s", step.sql, before)
		}
		run(t, db, step.sql)
		if after, _ := ask(2, step.question, nil); !strings.Contains(after, step.want) {
			t.Errorf("after %s: %s", step.sql, after)
		}
	}
	s.post("/api/query", map[string]any{"question": "What does PU-1 block?", "project_id": s.ids["PU"], "match_threshold": 0.05}, asking(s.user(2))...).want(http.StatusOK).from(fromMemory)
}
