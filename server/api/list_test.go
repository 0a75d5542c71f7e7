package api_test

import (
	"net/http"
	"slices"
	"testing"
)

// Hosted PostgREST returns at most 1,000 rows.
func TestListsAreWhole(t *testing.T) {
	t.Parallel()
	s := start(t)
	const entries = 2001
	run(t, s.connect(), `insert into public.projects (key, name) select 'P' || i, 'Project ' || i from generate_series(1, $1) i`, entries)
	run(t, s.connect(), `insert into public.status (name) select 'Status ' || i from generate_series(1, $1) i`, entries)
	for _, path := range []string{"/api/projects", "/api/statuses"} {
		seen := map[string]bool{}
		for _, entry := range read[struct{ Results []struct{ Name string } }](s.get(path)).Results {
			seen[entry.Name] = true
		}
		if len(seen) != entries {
			t.Errorf("%s lists %d of %d", path, len(seen), entries)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/api/projects", "/api/statuses"} {
		if text := s.get(path).want(http.StatusOK).text; text != `{"results":[]}` {
			t.Errorf("%s of an empty tracker: %s", path, text)
		}
	}
	s.load(trackerProjects, trackerTickets)
	type list struct {
		Results []struct {
			Key     string
			Name    string
			Tickets int
		}
	}
	projects := read[list](s.get("/api/projects")).Results
	if len(projects) != 2 || projects[0].Key != "IAM" || projects[0].Tickets != 2 || projects[1].Name != "Checkout" || projects[1].Tickets != 4 {
		t.Errorf("projects are %+v", projects)
	}
	var names []string
	for _, status := range read[list](s.get("/api/statuses")).Results {
		names = append(names, status.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"Done", "In Progress", "To Do"}) {
		t.Errorf("statuses are %q", names)
	}
}
