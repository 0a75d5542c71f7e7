package supabase_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tasklens/internal/testbed"
)

// An embedding of a model that the chunks do not have finds nothing by meaning. Who sees it says
// so, and to nobody else, because the service searches by words then.
func TestNoticeOfAnotherModel(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig(testbed.Database(t).OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	var notices []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message+" "+n.Hint) }
	db, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	if _, err := db.Exec(t.Context(), `
		insert into status (status_id, name) values (1, 'To Do');
		insert into projects (project_id, key, name) values (1, 'AA', 'Pumps');
		insert into tickets (ticket_id, key, project_id, status_id, name) values (1, 'AA-1', 1, 1, 'Pump leaks');
		insert into chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
		select 1, 1, 'ticket', 0, 'Pump leaks', 2, 'h', 'stored', ('[1' || repeat(',0', 1535) || ']')::extensions.vector;`); err != nil {
		t.Fatal(err)
	}
	const search = "search_hybrid('pump', ('[1' || repeat(',0', 1535) || ']')::extensions.vector, "
	for call, want := range map[string]string{
		"select " + search + "'stored')": "", "select search_hybrid('pump')": "",
		"select " + search + "'other')": `most chunks are of the model "stored", not "other"`,
		"select set_config('request.method', 'POST', false); select " + search + "'other'); reset request.method": "",
	} {
		notices = nil
		if _, err := db.Exec(t.Context(), call); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		if got := strings.Join(notices, "; "); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: the notices are %q, want %q", call, got, want)
		}
	}
}
