package gateway

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// shape is how a function's result becomes JSON.
type shape int

const (
	void       shape = iota
	scalar           // one value
	composite        // one object
	setScalar        // an array of values
	setObjects       // an array of objects
)

// parameter is a parameter that callers can pass.
type parameter struct {
	Name     string `json:"name"` // empty if unnamed
	Type     string `json:"type"` // qualified and quoted, for SQL
	optional bool
}

type function struct {
	schema, name string
	parameters   []parameter
	shape        shape
	volatile     bool
	// timeout is the function's own statement_timeout, empty if it has none.
	timeout string
}

// maxName is Postgres's maximum length of a name in bytes. It would truncate a longer one, which
// might then name another function.
const maxName = 63

// loadSQL names each type by schema and name. format_type would depend on search_path, and its bare
// "character" would mean one letter.
const loadSQL = `
select
  p.provolatile = 'v',
  p.proretset,
  p.prorettype = 'pg_catalog.void'::pg_catalog.regtype,
  coalesce(p.proargmodes && '{t,b,o}'::"char"[], false) or coalesce(b.typtype, t.typtype) = 'c',
  p.pronargdefaults::int8,
  coalesce((select pg_catalog.split_part(s, '=', 2) from pg_catalog.unnest(p.proconfig) s where s like 'statement_timeout=%'), ''),
  coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', coalesce(a.name, ''),
      'type', pg_catalog.quote_ident(an.nspname) || '.' || pg_catalog.quote_ident(at.typname)) order by a.place)
    from rows from (
      pg_catalog.unnest(coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[])),
      pg_catalog.unnest(p.proargnames),
      pg_catalog.unnest(p.proargmodes)) with ordinality a (type, name, mode, place)
    join pg_catalog.pg_type at on at.oid = a.type
    join pg_catalog.pg_namespace an on an.oid = at.typnamespace
    where coalesce(a.mode, 'i') in ('i', 'b')), '[]')
from pg_catalog.pg_namespace n
join pg_catalog.pg_proc p on p.pronamespace = n.oid
join pg_catalog.pg_type t on t.oid = p.prorettype
left join pg_catalog.pg_type b on b.oid = t.typbasetype
where n.nspname = $1 and p.proname = $2 and p.prokind = 'f' and p.provariadic = 0
  and p.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
order by p.oid`

// lookUp returns the functions of a name. An unknown name is not an error. It asks the database
// each time, so that a changed function is seen at once, unless the configuration says otherwise.
func (g *Gateway) lookUp(ctx context.Context, conn *pgx.Conn, schema, name string) (members []function, err error) {
	if len(name) > maxName || strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
		return nil, nil
	}
	if known, is := g.known.Load([2]string{schema, name}); is {
		return known.([]function), nil
	}
	rows, err := conn.Query(ctx, loadSQL, schema, name)
	if err != nil {
		return nil, fmt.Errorf("look up function: %w", err)
	}
	f := function{schema: schema, name: name}
	var set, isVoid, isComposite bool
	var defaults int
	_, err = pgx.ForEachRow(rows, []any{&f.volatile, &set, &isVoid, &isComposite, &defaults, &f.timeout, &f.parameters}, func() error {
		f.shape = shapeOf(set, isVoid, isComposite)
		for i := range f.parameters {
			// Defaults belong to the last parameters.
			f.parameters[i].optional = i >= len(f.parameters)-defaults
		}
		members = append(members, f)
		f.parameters = nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up function: %w", err)
	}
	if g.config.CachesSchema && len(members) > 0 {
		g.known.Store([2]string{schema, name}, members)
	}
	return members, nil
}

func shapeOf(set, isVoid, isComposite bool) shape {
	switch {
	case set && isComposite:
		return setObjects
	case set:
		return setScalar
	case isVoid:
		return void
	case isComposite:
		return composite
	}
	return scalar
}
