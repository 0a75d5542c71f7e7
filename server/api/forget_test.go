package api_test

import (
	"net/http"
	"testing"
)

// An edit that can change a result invalidates its cache entry; other edits do not.
func TestEditsAreSeenAtOnce(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	tracker := s.connect()
	status := func(path string, body map[string]any) string {
		return s.post(path, body).want(http.StatusOK).header.Get("Cache-Status")
	}
	search := map[string]any{"query": "payment TX-400", "project_id": s.ids["TX"]}
	vector := map[string]any{"question": doubleCharge, "project_id": s.ids["TX"]}
	hybrid := map[string]any{"question": doubleCharge, "project_id": s.ids["TX"], "retrieval": "hybrid"}
	for i, step := range []struct {
		sql   string
		moved bool
	}{
		{"update tickets set name = name", false},
		{"update tickets set updated_at = now()", true}, // updated_at is part of the result and can be filtered by
		{"update status_changes set status_id = null", false},
		{"insert into status (name) values ('Later')", false},
		{"update tickets set name = 'Charged once more' where key = 'TX-400'", true},
		{"update tickets set status_id = (select status_id from status where name = 'To Do') where key = 'TX-400'", true},
		{"update status set name = 'Open' where name = 'To Do'", true},
		// The other project's keyword weights change, and its tickets may be linked.
		{"update tickets set description = 'payment payment' where key = 'IAM-97'", true},
		{"insert into tickets (key, project_id, status_id, name) select 'TX-410', project_id, status_id, 'payment' from tickets where key = 'TX-400'", true},
		{"delete from tickets where key = 'TX-401'", true},
		{"insert into status_changes (ticket_id, note) select ticket_id, 'Paid back.' from tickets where key = 'TX-400'", true},
		{"update tickets set project_id = (select project_id from projects where key = 'IAM') where key = 'TX-403'", true},
		{"update projects set name = 'Till' where key = 'TX'", true},
		{"delete from chunks where ticket_id = (select ticket_id from tickets where key = 'TX-402')", true},
	} {
		for range 2 {
			status("/api/hybrid-search", search)
			status("/api/query", vector)
			status("/api/query", hybrid)
		}
		run(t, tracker, step.sql)
		for name, from := range map[string]string{
			"search": status("/api/hybrid-search", search), "vector": status("/api/query", vector), "hybrid": status("/api/query", hybrid),
		} {
			if (from == fromMemory) == step.moved {
				t.Errorf("step %d, %s: %s comes from %q", i, step.sql, name, from)
			}
		}
	}
	got := s.search("payment TX-400", map[string]any{"project_id": s.ids["TX"]})
	if first := got.Results[0]; !got.Cached || *first.TicketName != "Charged once more" || *first.Status != "Open" || first.ProjectName != "Till" {
		t.Errorf("found was %+v", first)
	}
	read[map[string]any](s.generate("TX", "TX-400"))
	if s.search("payment TX-400", map[string]any{"project_id": s.ids["TX"]}).Cached {
		t.Error("new embeddings changed nothing")
	}
	s.search("payment TX-400")
	read[map[string]any](s.generate("TX", "TX-400"))
	if !s.search("payment TX-400").Cached {
		t.Error("embeddings that stayed the same changed something")
	}
}

// A cached response is never served to another caller, and every request's token is checked.
func TestIdentities(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	token := "Bearer " + s.token("service_role")
	body := map[string]any{"query": "payment"}
	s.post("/api/hybrid-search", body).from(madeAndKept)
	s.costs(oneVersion, func() { s.post("/api/hybrid-search", body).from(fromMemory) })
	s.post("/api/hybrid-search", body, "Authorization", token).from(madeAndKept)
	s.costs(oneVersion, func() { s.post("/api/hybrid-search", body, "Authorization", token).from(fromMemory) })
	s.post("/api/hybrid-search", body, "Authorization", token[:len(token)-4]+"AAAA").want(http.StatusUnauthorized)
	s.post("/api/hybrid-search", body, "Authorization", "Bearer "+s.token("anon")).want(http.StatusForbidden)
}
