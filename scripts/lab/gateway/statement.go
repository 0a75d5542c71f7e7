package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// statement is SQL with parameters in text format.
type statement struct {
	sql    string
	types  []uint32 // 0 lets Postgres infer the type
	values [][]byte
}

func (s *statement) bind(oid uint32, value []byte) string {
	s.types = append(s.types, oid)
	s.values = append(s.values, value)
	return fmt.Sprintf("$%d", len(s.values))
}

func quote(identifier string) string { return pgx.Identifier{identifier}.Sanitize() }

// callSQL calls f and builds the JSON in the database: one row with a count and a text, of at most
// maxRows rows of a set. The whole set is computed and counted. With single the text is the first
// row. The aliases are unlikely to clash with result columns.
func callSQL(f function, args arguments, single bool, maxRows int) statement {
	var s statement
	call, source := s.invocation(f, args)
	item := "gateway_row"
	var rows string
	switch f.shape {
	case composite, setObjects:
		rows = "select gateway_result.* from " + call + " gateway_result"
		if source != "" {
			rows = "select gateway_result.* from " + source + ", lateral " + call + " gateway_result"
		}
	default:
		item = "gateway_row.value"
		rows = "select " + call + " as value"
		if source != "" {
			rows += " from " + source
		}
	}
	count, body := "1::pg_catalog.int8", "coalesce(pg_catalog.to_json("+item+"), 'null')"
	if f.shape == setScalar || f.shape == setObjects {
		rows = "select " + item + " as item, pg_catalog.row_number() over () as place from (" + rows + ") gateway_row"
		list := fmt.Sprintf("pg_catalog.json_agg(gateway_row.item) filter (where gateway_row.place <= %d)", maxRows)
		count, body = "pg_catalog.count(*)", "coalesce("+list+", '[]')"
		if single {
			body = "coalesce((" + list + ")->0, 'null')"
		}
	}
	s.sql = "select " + count + ", " + body + "::pg_catalog.text from (" + rows + ") gateway_row"
	return s
}

// invocation returns the call, and the FROM item that provides its arguments.
func (s *statement) invocation(f function, args arguments) (call, source string) {
	name := quote(f.schema) + "." + quote(f.name)
	given := f.given(args)
	if len(given) == 0 {
		return name + "()", ""
	}
	passed, columns := make([]string, len(given)), make([]string, len(given))
	for i, p := range given {
		value := "gateway_arg." + quote(p.Name)
		if args.query != nil {
			value = s.bind(0, []byte(args.query[p.Name])) + "::" + p.Type
		}
		passed[i] = quote(p.Name) + " := " + value
		columns[i] = quote(p.Name) + " " + p.Type
	}
	call = name + "(" + strings.Join(passed, ", ") + ")"
	if args.query != nil {
		return call, ""
	}
	body, list := s.bind(pgtype.JSONOID, args.body), "("+strings.Join(columns, ", ")+")"
	if args.array {
		return call, "(select * from pg_catalog.json_to_recordset(" + body + ") as item" + list + " limit 1) gateway_arg"
	}
	return call, "pg_catalog.json_to_record(" + body + ") as gateway_arg" + list
}

// given returns the parameters that are passed, in the function's order, so that any order of names
// gives the same statement.
func (f function) given(args arguments) []parameter {
	var given []parameter
	for _, p := range f.parameters {
		if slices.Contains(args.names, p.Name) {
			given = append(given, p)
		}
	}
	return given
}
