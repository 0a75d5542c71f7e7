package supabase_test

import (
	"fmt"
	"testing"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

const (
	callers = 2 // each in a project of their own, and in one that all are in
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
