package supabase_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

// privileges are the grants on the objects in the schema and in tasklens, as SQL has them: "grantee
// privilege (column) on object". Every row is one that can be revoked.
func privileges(t *testing.T, db pgx.Tx, schema string) []string {
	t.Helper()
	if _, err := db.Exec(t.Context(), "set local search_path = ''"); err != nil {
		t.Fatal(err)
	}
	rows, _ := db.Query(t.Context(), `
		select concat(case a.grantee when 0 then 'PUBLIC' else pg_get_userbyid(a.grantee) end, ' ', a.privilege_type,
			case when a.is_grantable then ' with grant option' end, o.columns, ' on ', o.object)
		from (
			select 'schema tasklens' as object, null as columns, coalesce(nspacl, acldefault('n', nspowner)) as acl from pg_namespace where nspname = 'tasklens'
			union all
			select case relkind when 'S' then 'sequence ' else 'table ' end || oid::regclass, null, coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))
			from pg_class where relkind in ('r', 'v', 'S') and relnamespace::regnamespace::text in ('tasklens', $1)
			union all
			select 'table ' || attrelid::regclass, format(' (%I)', attname), attacl
			from pg_attribute join pg_class on pg_class.oid = attrelid
			where attnum > 0 and not attisdropped and relkind in ('r', 'v') and relnamespace::regnamespace::text in ('tasklens', $1)
			union all
			select 'function ' || oid::regprocedure, null, coalesce(proacl, acldefault('f', proowner))
			from pg_proc where pronamespace::regnamespace::text in ('tasklens', $1)
		) o cross join aclexplode(o.acl) a order by 1`, schema)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func outside(of, others []string) (rest []string) {
	for _, o := range of {
		if !slices.Contains(others, o) {
			rest = append(rest, o)
		}
	}
	return rest
}

// named reports whether the check names a difference as an error.
func named(findings []finding, verb, difference string) bool {
	what, object, _ := strings.Cut(difference, " on ")
	grantee, privilege, _ := strings.Cut(what, " ")
	return slices.ContainsFunc(findings, func(f finding) bool {
		return f.Severity == "error" && f.Subject == "grants on "+object && f.Remedy == "select tasklens.set_grants();" &&
			slices.Contains(strings.Split(f.Finding, ", "), grantee+" "+verb+" "+privilege)
	})
}

func checkIn(t *testing.T, db pgx.Tx, schema string) []finding {
	t.Helper()
	rows, _ := db.Query(t.Context(), "select severity, subject, finding, coalesce(remedy, '') from "+schema+".check_installation()")
	findings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[finding])
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// repair calls set_grants, and returns what it did.
func repair(t *testing.T, db pgx.Tx) []string {
	t.Helper()
	rows, _ := db.Query(t.Context(), "select * from tasklens.set_grants()")
	done, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// An operator's own: an overload of a function of ours, a table, a column, a role.
const operators = `
	create function SCHEMA.list_projects(owner uuid) returns text language sql as 'select ''theirs''';
	create table SCHEMA.boards (id bigint);
	alter table SCHEMA.tickets add column severity text;
	create role ROLE;
	grant select on SCHEMA.tickets to ROLE;
	grant update (name) on SCHEMA.projects to ROLE;
	grant execute on function SCHEMA.search_by_keyword to ROLE;
	grant update (severity) on SCHEMA.tickets to authenticated`

// Whatever was granted and revoked, the check names each difference, and the repair undoes all of
// it and nothing else.
func TestGrantsAreComparedAndRepaired(t *testing.T) {
	t.Parallel()
	schema := testbed.Schema()
	database := testbed.Database(t)
	owner := testbed.Connect(t, database.OwnerURL)
	in := func(do func(pgx.Tx)) {
		t.Helper()
		tx, err := owner.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
		do(tx)
	}
	execute(t, owner, "set search_path = ''")
	changes := changesOfGrants(t, owner, schema)
	if len(changes) < 5000 {
		t.Fatalf("only %d grants can be changed", len(changes))
	}
	random := rand.New(rand.NewPCG(uint64(os.Getpid()), 0))
	t.Logf("seed %d", os.Getpid())
	role := "own_" + strings.ToLower(database.Name)
	tickets := schema + ".tickets"
	for round := range 12 {
		in(func(tx pgx.Tx) {
			execute(t, tx, strings.NewReplacer("SCHEMA", schema, "ROLE", role).Replace(operators))
			before := privileges(t, tx, schema)
			number := 1 + random.IntN(1<<round)
			var done []string
			for range number {
				done = append(done, changes[random.IntN(len(changes))])
			}
			if round == 0 { // as after a restore
				done = []string{"grant all on all tables in schema " + schema + " to anon, authenticated, service_role", "grant all on all functions in schema " + schema + " to anon, authenticated, service_role",
					"grant all on all sequences in schema " + schema + " to anon, authenticated, service_role", "grant execute on all functions in schema tasklens to PUBLIC"}
			}
			execute(t, tx, strings.Join(done, ";"))
			changed := privileges(t, tx, schema)
			// A change of a table may concern their column. That is theirs to undo.
			want := append(slices.DeleteFunc(slices.Clone(before), isTheirs), slices.DeleteFunc(slices.Clone(changed), isOurs)...)
			slices.Sort(want)
			findings := checkIn(t, tx, schema)
			for _, ours := range []struct {
				verb string
				all  []string
			}{{"lacks", outside(before, changed)}, {"should not have", outside(changed, before)}} {
				for _, difference := range ours.all {
					if isOurs(difference) && !named(findings, ours.verb, difference) {
						t.Errorf("round %d: not named: %s %s, after %v", round, ours.verb, difference, done)
					}
				}
			}
			repair(t, tx)
			after := privileges(t, tx, schema)
			slices.Sort(after)
			if diff := cmp.Diff(want, after); diff != "" {
				t.Errorf("round %d: not repaired: %s, after %v", round, diff, done)
			}
			if again := repair(t, tx); len(again) > 0 {
				t.Errorf("round %d: a second repair does %v", round, again)
			}
			named := 0
			for _, f := range checkIn(t, tx, schema) {
				if f.Severity == "error" {
					t.Errorf("round %d: after the repair: %v", round, f)
				}
				if f.Severity == "ok" && f.Subject == "grants to "+role && strings.Contains(f.Finding, "SELECT on table "+tickets) && strings.Contains(f.Finding, "UPDATE (name) on table ") {
					named++
				}
			}
			if named != 1 {
				t.Errorf("round %d: the operator's role is named %d times: %v", round, named, checkIn(t, tx, schema))
			}
		})
	}
}

func isOurs(privilege string) bool { return !isTheirs(privilege) }

func isTheirs(privilege string) bool {
	return strings.HasPrefix(privilege, "own_") || strings.Contains(privilege, "(severity)") || strings.Contains(privilege, "boards") || strings.Contains(privilege, "list_projects(uuid)")
}

// changesOfGrants are the statements that grant or revoke one privilege on one object of tasklens.
func changesOfGrants(t *testing.T, owner *pgx.Conn, schema string) []string {
	t.Helper()
	rows, _ := owner.Query(t.Context(), `
		with objects as (
			select 'schema tasklens' as object, '{usage,create}'::text[] as privileges, null as columns
			union all
			select 'table ' || oid::regclass, '{select,insert,update,delete,truncate,references,trigger}', null from pg_class
			where relkind in ('r', 'v') and relnamespace::regnamespace::text in ('tasklens', $1)
			union all
			select 'sequence ' || oid::regclass, '{usage,select,update}', null from pg_class where relkind = 'S' and relnamespace::regnamespace::text in ('tasklens', $1)
			union all
			select 'table ' || attrelid::regclass, '{select,insert,update,references}', format(' (%I)', attname)
			from pg_attribute join pg_class on pg_class.oid = attrelid
			where attnum > 0 and relkind in ('r', 'v') and relnamespace::regnamespace::text in ('tasklens', $1)
			union all
			select 'function ' || oid::regprocedure, '{execute}', null from pg_proc where pronamespace::regnamespace::text in ('tasklens', $1)
		)
		select format(case c.verb when 'revoke' then 'revoke %s%s on %s from %s cascade' else 'grant %s%s on %s to %s ' || case when r.role <> 'PUBLIC' then c.clause else '' end end,
			p.privilege, o.columns, o.object, r.role)
		from objects o cross join unnest(o.privileges) p(privilege)
		cross join unnest('{PUBLIC,anon,authenticated,service_role,postgres}'::text[]) r(role)
		cross join (values ('grant', ''), ('grant', 'with grant option'), ('revoke', '')) c(verb, clause)
		where not (r.role = 'postgres' and (c.clause <> '' or o.columns <> ''))`, schema)
	changes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// A dump as the Supabase CLI makes it, restored into a new project, whose default privileges open
// everything: apply closes it. So does set_grants where the rows were left out, as by squashing.
func TestGrantsAfterARestore(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{"public", "lens"} {
		source := testbed.Empty(t)
		if out, err := apply(t, source.OwnerURL, "--schema", schema); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := transaction(t, source.OwnerURL, func(tx pgx.Tx) []string { return privileges(t, tx, schema) })
		for _, withRows := range []bool{true, false} {
			target := testbed.Empty(t)
			owner := testbed.Connect(t, target.OwnerURL)
			execute(t, owner, "create schema if not exists "+schema+`; alter default privileges in schema `+schema+` grant all on tables to anon, authenticated, service_role;
				alter default privileges in schema `+schema+` grant all on sequences to anon, authenticated, service_role; alter default privileges in schema `+schema+` grant all on functions to anon, authenticated, service_role`)
			restore(t, source, target, withRows)
			opened := transaction(t, target.OwnerURL, func(tx pgx.Tx) []string {
				found := outside(privileges(t, tx, schema), want)
				findings := checkIn(t, tx, schema)
				for _, difference := range found {
					if !named(findings, "should not have", difference) {
						t.Errorf("%s, rows %t: not named: %s", schema, withRows, difference)
					}
				}
				return found
			})
			if len(opened) < 200 {
				t.Errorf("%s, rows %t: the restore opened only %d grants", schema, withRows, len(opened))
			}
			out, err := apply(t, target.OwnerURL)
			if withRows && err != nil || !withRows && !strings.Contains(out, "restore the rows of the dump too") {
				t.Errorf("%s, rows %t: %v: %s", schema, withRows, err, out)
			}
			if diff := cmp.Diff(want, transaction(t, target.OwnerURL, func(tx pgx.Tx) []string { return privileges(t, tx, schema) })); diff != "" {
				t.Errorf("%s, rows %t: not repaired: %s", schema, withRows, diff)
			}
			defaults := transaction(t, target.OwnerURL, func(tx pgx.Tx) []string {
				var found []string
				for _, f := range checkIn(t, tx, schema) {
					if strings.HasPrefix(f.Subject, "grants") && f.Severity != "ok" {
						t.Errorf("%s, rows %t: %v", schema, withRows, f)
					}
					if f.Subject == "default privileges" && f.Severity == "ok" {
						found = append(found, f.Finding)
					}
				}
				return found
			})
			if len(defaults) != 1 || !strings.Contains(defaults[0], "new functions in "+schema+" are granted to anon") {
				t.Errorf("%s, rows %t: default privileges: %v", schema, withRows, defaults)
			}
		}
	}
}

func transaction[T any](t *testing.T, url string, do func(pgx.Tx) T) T {
	t.Helper()
	tx, err := testbed.Connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	return do(tx)
}

// restore copies a database as the Supabase CLI does, without the platform's schemas.
func restore(t *testing.T, source, target *testbed.DB, withRows bool) {
	t.Helper()
	const others = "auth|extensions|supabase_migrations"
	schema, err := command(t, "pg_dump", source.OwnerURL, "--schema-only", "--exclude-schema", others)
	if err != nil {
		t.Fatal(schema)
	}
	schema = strings.NewReplacer("\nCREATE SCHEMA ", "\nCREATE SCHEMA IF NOT EXISTS ", "\nCOMMENT ON EXTENSION", "\n-- COMMENT ON EXTENSION").Replace(schema)
	load(t, target.OwnerURL, schema)
	if withRows {
		rows, err := command(t, "pg_dump", source.OwnerURL, "--data-only", "--exclude-schema", others)
		if err != nil {
			t.Fatal(rows)
		}
		load(t, target.SuperuserURL, "set session_replication_role = replica;\n"+rows[strings.Index(rows, "--\n"):])
	}
}

func load(t *testing.T, url, sql string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dump.sql")
	if err := os.WriteFile(file, []byte(sql), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, "psql", "-Xq", "-1", "-v", "ON_ERROR_STOP=1", url, "-f", file); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, out))
	}
}
