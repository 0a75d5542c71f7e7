package api_test

import (
	"net/http"
	"slices"
	"testing"
)

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
