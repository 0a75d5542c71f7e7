package supabase_test

import (
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tasklens/internal/testbed"
)

// A search that excludes a common word checks hundreds of chunks and candidates. Neither may call a
// function or search a list of tickets from its start.
func TestAnExcludedWordIsCheckedCheaply(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	_, err := testbed.Connect(t, db.OwnerURL).Exec(t.Context(), `
		insert into status (status_id, name) values (1, 'To Do');
		insert into projects (project_id, key, name) values (1, 'AA', 'Phones');
		insert into tickets (ticket_id, project_id, status_id, name, description)
		select n, 1, 1, 'Keyboard ' || n, case n % 3 when 0 then 'android' end from generate_series(1, 600) n;
		insert into comments (ticket_id, body) select n, 'on android' from generate_series(1, 600) n where n % 3 = 1;
		insert into chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
		select 1, n, 'ticket', 0, 'Keyboard', 1, 'h', 'm', (array[cos(n * 0.001), sin(n * 0.001)] || array_fill(0.0::float8, array[1534]))::extensions.vector
		from generate_series(1, 600) n;
		analyze chunks, tickets, comments, keyword_entries, comment_entries`)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(db.SuperuserURL)
	if err != nil {
		t.Fatal(err)
	}
	listSearch := regexp.MustCompile(`(?m)^ *Filter:.*ticket_id = ANY.*$`)
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if found := listSearch.FindString(n.Message); found != "" {
			t.Errorf("a list is searched for every row: %s", found)
		}
	}
	connection, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(t.Context())
	if _, err := connection.Exec(t.Context(), `load 'auto_explain'; set track_functions = 'all'`); err != nil {
		t.Fatal(err)
	}
	search := func(query string) (found int, calls int64) {
		t.Helper()
		err := pgx.BeginFunc(t.Context(), connection, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `set local auto_explain.log_min_duration = 0; set local auto_explain.log_nested_statements = on;
				set local client_min_messages = log`); err != nil {
				return err
			}
			err := tx.QueryRow(t.Context(), `select count(*) from search_hybrid($1, (select embedding from chunks where ticket_id = 2), 'm', 0.5)`, query).Scan(&found)
			if err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), `select coalesce(sum(pg_stat_get_xact_function_calls(p.oid)), 0)::bigint
				from pg_proc p where p.pronamespace = 'tasklens'::regnamespace`).Scan(&calls)
		})
		if err != nil {
			t.Fatal(err)
		}
		return found, calls
	}
	all, usual := search("keyboard")
	left, calls := search("keyboard -android")
	if all != 10 || left != 10 {
		t.Errorf("found %d, and %d without the word: want a full page", all, left)
	}
	if usual < 20 || calls > usual+250 {
		t.Errorf("%d function calls, and %d without a word", usual, calls)
	}
}
