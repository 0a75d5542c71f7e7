package examples

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

// docs/sql.md lists every function of the API with its arguments and defaults, under the callers
// that it is granted to.
func TestListedFunctions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(\\w+\\(.*?\\))` \\|")
	_, list, found := strings.Cut(string(page), "\n## All functions\n")
	users, service, split := strings.Cut(list, "\n### For the service\n")
	if !found || !split {
		t.Fatal("docs/sql.md has no list of functions")
	}
	var listed []string
	for grantees, part := range map[string]string{"authenticated service_role": users, "service_role": service} {
		for _, match := range row.FindAllStringSubmatch(part, -1) {
			listed = append(listed, match[1]+" "+grantees)
		}
	}
	owner := testbed.Connect(t, testbed.Database(t).OwnerURL)
	rows, err := owner.Query(t.Context(), `
		select p.proname || '(' || (
				select coalesce(string_agg(a.name || coalesce(' = ' || case when a.value like 'NULL%' then 'null' else regexp_replace(a.value, '::[a-z ]+(\[\])?$', '') end, ''), ', ' order by a.place), '')
				from (
					select n.place, n.name, case when n.place > p.pronargs - p.pronargdefaults then pg_get_function_arg_default(p.oid, n.place::integer) end as value
					from unnest(p.proargnames) with ordinality as n(name, place) where n.place <= p.pronargs
				) a
			) || ')' || (
				select string_agg(' ' || r.role, '' order by r.role)
				from unnest(array['anon', 'authenticated', 'service_role']) as r(role) where has_function_privilege(r.role, p.oid, 'execute')
			)
		from pg_proc p
		where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
			and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`)
	if err != nil {
		t.Fatal(err)
	}
	existing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(existing) == 0 {
		t.Fatalf("found %d functions, %v", len(existing), err)
	}
	for _, f := range existing {
		if !slices.Contains(listed, f) {
			t.Errorf("docs/sql.md does not list %s", f)
		}
	}
	for _, f := range listed {
		if !slices.Contains(existing, f) {
			t.Errorf("docs/sql.md lists %s, which the database does not have", f)
		}
	}
}
