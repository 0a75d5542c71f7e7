package supabase_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/fault"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

const (
	callers = 64
	// Each caller is in one project that is theirs alone and in one that all are in, of these.
	tickets = 3 // in each project
)

func userID(caller int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", caller) }

// asCallers gives the database as each of so many users sees it (from 1), and as the service does
// (0), through the REST interface: user i is in the projects 100 and i.
func asCallers(t *testing.T) []*postgrest.Session {
	t.Helper()
	db := testbed.Database(t)
	owner := testbed.Connect(t, db.OwnerURL)
	_, err := owner.Exec(t.Context(), fmt.Sprintf(`
		insert into status (status_id, name) values (1, 'To Do');
		insert into projects (project_id, key, name) select p, 'P' || p, 'Pumps' from generate_series(1, %[1]d) p union all select 100, 'ALL', 'Pumps';
		insert into tickets (project_id, status_id, name) select p.project_id, 1, 'Pump leaks' from projects p, generate_series(1, %[2]d);
		insert into project_members (project_id, user_id)
		select p, ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid from generate_series(1, %[1]d) i, unnest(array[i, 100]) p`, callers, tickets))
	if err != nil {
		t.Fatal(err)
	}
	restURL, secret := testbed.REST(t, db)
	token := func(claims map[string]any) string {
		claims["exp"] = time.Now().Add(time.Hour).Unix()
		token, err := gateway.Token(secret, claims)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	client := postgrest.New(restURL, token(map[string]any{"role": "service_role"}), testbed.Schema())
	sessions := []*postgrest.Session{client.AsService()}
	for i := 1; i <= callers; i++ {
		sessions = append(sessions, client.AsUser(token(map[string]any{"role": "authenticated", "sub": userID(i)})))
	}
	return sessions
}

// projectsOf are the projects of the rows that a function returns, each as often as it comes.
func projectsOf(ctx context.Context, s *postgrest.Session, function string, arguments map[string]any) (ids []int64, err error) {
	var rows []struct {
		ProjectID int64 `json:"project_id"`
	}
	err = s.Call(ctx, function, arguments, &rows)
	for _, row := range rows {
		ids = append(ids, row.ProjectID)
	}
	slices.Sort(ids)
	return ids, err
}

// Connections are shared by all, and change their role and user with every request: nobody gets
// another one's rows, and nobody loses any of theirs.
func TestNoCallersRowsReachAnother(t *testing.T) {
	t.Parallel()
	sessions := asCallers(t)
	calls := []struct {
		function  string
		arguments map[string]any
		times     int // that each project comes
	}{
		{"list_projects", nil, 1},
		{"search_by_keyword", map[string]any{"query_text": "leaks", "match_count": 1000}, tickets},
		{"search_hybrid", map[string]any{"query_text": "pump leaks", "match_count": 101, "project_filter": 100}, 0},
		{"search_hybrid", map[string]any{"query_text": "leaks", "match_count": 101}, tickets},
	}
	versions := make([]string, len(sessions))
	group, ctx := errgroup.WithContext(t.Context())
	for i, session := range sessions {
		group.Go(func() error {
			for round := range 2 * len(calls) {
				call := calls[(i+round)%len(calls)]
				got, err := projectsOf(ctx, session, call.function, call.arguments)
				if err != nil {
					return fmt.Errorf("caller %d: %w", i, err)
				}
				want := []int64{int64(i), 100}
				if i == 0 {
					want = append(numbers(callers), 100)
				}
				times := call.times
				if times == 0 { // of the common project, whose own entry is found as well
					want, times = []int64{100}, tickets+1
				}
				if i == 0 && call.function == "search_hybrid" && call.times > 0 {
					continue // a page does not hold all
				}
				if want := slices.Repeat(want, times); !slices.Equal(got, sorted(want)) {
					t.Errorf("caller %d got of %s%v the projects %v, want %v", i, call.function, call.arguments, got, want)
				}
			}
			return session.Call(ctx, "data_version", nil, &versions[i])
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if distinct := len(slices.Compact(sorted(versions))); distinct != len(sessions) {
		t.Errorf("%d callers who see different projects were told %d versions", len(sessions), distinct)
	}
}

// What the service asks of the database in a user's name, to decide what it does itself.
func TestCallersAreToldWhatTheyMay(t *testing.T) {
	t.Parallel()
	sessions := asCallers(t)
	for i, want := range map[int]string{0: "service", 1: "viewer"} {
		var role string
		if err := sessions[i].Call(t.Context(), "caller_role", nil, &role); err != nil || role != want {
			t.Errorf("caller %d: role %q, %v; want %q", i, role, err, want)
		}
		var may bool
		if err := sessions[i].Call(t.Context(), "may_write_project", map[string]any{"project_id": 1}, &may); err != nil || may != (i == 0) {
			t.Errorf("caller %d may write project 1: %t, %v", i, may, err)
		}
	}
	for _, function := range []string{"embedding_sets", "enrichment_stats", "list_migrations", "list_dead_embedding_jobs"} {
		if err := sessions[1].Call(t.Context(), function, nil, nil); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("a user calls %s: %v, want %s", function, err, fault.Forbidden)
		}
		if err := sessions[0].Call(t.Context(), function, nil, nil); err != nil {
			t.Errorf("the service calls %s: %v", function, err)
		}
	}
}

func numbers(n int) (out []int64) {
	for i := range n {
		out = append(out, int64(i+1))
	}
	return out
}

func sorted[T int64 | string](values []T) []T {
	out := slices.Clone(values)
	slices.Sort(out)
	return out
}
