package examples

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

var update = flag.Bool("update", false, "rewrite the list of functions in docs/sql.md")

// docs/sql.md lists the functions of the API that users may call, and those of the owner. All
// others are for the service.
func TestListedFunctions(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/sql.md"
	const begin, end = "<!-- functions: go test ./scripts/lab/examples -run ListedFunctions -update -->\n", "<!-- end of functions -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(page), begin)
	listed, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatal("docs/sql.md has no list of functions")
	}
	owner := testbed.Connect(t, testbed.Database(t).OwnerURL)
	rows, err := owner.Query(t.Context(), `
		select p.proname as name,
			has_function_privilege('anon', p.oid, 'execute') as by_anon,
			has_function_privilege('authenticated', p.oid, 'execute') as by_users,
			has_function_privilege('service_role', p.oid, 'execute') as by_service
		from pg_proc p
		where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
			and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
		order by p.proname`)
	if err != nil {
		t.Fatal(err)
	}
	functions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		Name                       string
		ByAnon, ByUsers, ByService bool
	}])
	if err != nil || len(functions) == 0 {
		t.Fatalf("found %d functions, %v", len(functions), err)
	}
	var users, owners []string
	for _, f := range functions {
		switch {
		case f.ByAnon:
			t.Errorf("%s is callable without a token", f.Name)
		case !f.ByService:
			owners = append(owners, "`"+f.Name+"`")
		case f.ByUsers:
			users = append(users, "`"+f.Name+"`")
		}
	}
	want := "### For users and the service\n\n" + strings.Join(users, ",\n") +
		"\n\n### For the owner of the database\n\n" + strings.Join(owners, ",\n") + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if listed != want {
		t.Error("the functions in docs/sql.md differ from those of the migrations: run this test with -update")
	}
}
