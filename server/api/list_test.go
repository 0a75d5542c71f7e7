package api_test

import (
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
