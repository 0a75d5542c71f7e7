package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
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
	Shown    string `json:"shown"`
	Variadic bool   `json:"variadic"`
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

// family is the set of functions with one name in one schema.
type family struct {
	members []function
	// schemaID and fingerprint (oids and row versions of the members) let a later transaction
	// detect a change.
	schemaID    string
	fingerprint string
}

type familyKey struct{ schema, name string }

// catalogue caches families. Schema changes need no notification: each call checks the fingerprint
// in its own transaction, and functions that are not cached are looked up.
type catalogue struct {
	pool  pool
	mu    sync.RWMutex
	known map[familyKey]family // only existing functions, so bounded
}

func newCatalogue(pool pool) *catalogue {
	return &catalogue{pool: pool, known: map[familyKey]family{}}
}

// cached returns the cached functions of a name, usually none before its first call.
func (c *catalogue) cached(key familyKey) family {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.known[key]
}

// fingerprintSQL computes the version of a family. In the enclosing query $1 is the name and $2 the
// schema oid.
const fingerprintSQL = `select coalesce(pg_catalog.string_agg(f.oid::pg_catalog.text || ':' || f.xmin::pg_catalog.text, ',' order by f.oid), '')
  from pg_catalog.pg_proc f where f.proname = %s and f.pronamespace = %s`

// maxName is Postgres's maximum length of a name in bytes. It would truncate a longer one, which
// might then name another function.
const maxName = 63

// loadColumns is the number of columns of loadSQL.
const loadColumns = 9

// loadSQL names each type by schema and name. format_type would depend on search_path, and its bare
// "character" would mean one letter.
var loadSQL = `
select
  n.oid::text,
  (` + fmt.Sprintf(fingerprintSQL, "$2", "n.oid") + `),
  p.provolatile = 'v',
  p.proretset,
  p.prorettype = 'pg_catalog.void'::pg_catalog.regtype,
  coalesce(p.proargmodes && '{t,b,o}'::"char"[], false) or coalesce(b.typtype, t.typtype) = 'c',
  p.pronargdefaults::int8,
  coalesce((select pg_catalog.split_part(s, '=', 2) from pg_catalog.unnest(p.proconfig) s where s like 'statement_timeout=%'), ''),
  coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', coalesce(a.name, ''),
      'type', pg_catalog.quote_ident(an.nspname) || '.' || pg_catalog.quote_ident(at.typname),
      'shown', pg_catalog.format_type(at.oid, null),
      'variadic', coalesce(a.mode = 'v', false)) order by a.place)
    from rows from (
      pg_catalog.unnest(coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[])),
      pg_catalog.unnest(p.proargnames),
      pg_catalog.unnest(p.proargmodes)) with ordinality a (type, name, mode, place)
    join pg_catalog.pg_type at on at.oid = a.type
    join pg_catalog.pg_namespace an on an.oid = at.typnamespace
    where coalesce(a.mode, 'i') in ('i', 'b', 'v')), '[]')::text
from pg_catalog.pg_namespace n
join pg_catalog.pg_proc p on p.pronamespace = n.oid
join pg_catalog.pg_type t on t.oid = p.prorettype
left join pg_catalog.pg_type b on b.oid = t.typbasetype
where n.nspname = $1 and p.proname = $2 and p.prokind = 'f'
  and p.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
order by p.oid`

// load queries the database and caches the result. An unknown name is an empty family, not an
// error.
func (c *catalogue) load(ctx context.Context, key familyKey) (family, error) {
	if len(key.name) > maxName || strings.ContainsRune(key.name, 0) || !utf8.ValidString(key.name) {
		return family{}, nil
	}
	session, release, err := c.pool.acquire(ctx)
	if err != nil {
		return family{}, err
	}
	defer release()
	values, _, err := session.run(ctx, statement{sql: loadSQL, types: []uint32{pgtype.NameOID, pgtype.NameOID},
		values: [][]byte{[]byte(key.schema), []byte(key.name)}})
	if err != nil {
		return family{}, fmt.Errorf("look up function: %w", err)
	}
	var found family
	for row := range slices.Chunk(values, loadColumns) {
		member := function{schema: key.schema, name: key.name, volatile: isTrue(row[2]), timeout: string(row[7]),
			shape: shapeOf(isTrue(row[3]), isTrue(row[4]), isTrue(row[5]))}
		if err := json.Unmarshal(row[8], &member.parameters); err != nil {
			return family{}, fmt.Errorf("read parameters of function: %w", err)
		}
		defaults, err := strconv.Atoi(string(row[6]))
		if err != nil {
			return family{}, fmt.Errorf("read defaults of function: %w", err)
		}
		for i := range member.parameters {
			// Defaults belong to the last parameters.
			member.parameters[i].optional = i >= len(member.parameters)-defaults
		}
		found.schemaID, found.fingerprint = string(row[0]), string(row[1])
		found.members = append(found.members, member)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(found.members) == 0 {
		delete(c.known, key)
	} else {
		c.known[key] = found
	}
	return found, nil
}

func isTrue(text []byte) bool { return string(text) == "t" }

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
