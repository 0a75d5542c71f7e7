package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// roleTimeoutSQL sets a role's statement_timeout, if it has one.
const roleTimeoutSQL = `(select pg_catalog.set_config('statement_timeout', pg_catalog.split_part(s, '=', 2), true)
  from pg_catalog.pg_roles r, pg_catalog.unnest(r.rolconfig) s where r.rolname = %s and s like 'statement_timeout=%%')`

// settingSQL makes the transaction-local settings that functions and policies read.
func (g *Gateway) settingSQL(r *http.Request, who caller, to target, f function) statement {
	var s statement
	var list []string
	set := func(name, value string) {
		list = append(list, "pg_catalog.set_config('"+name+"', "+s.bind(pgtype.TextOID, []byte(value))+", true)")
	}
	path := make([]string, 0, 1+len(g.config.ExtraSearchPath))
	path = append(path, quote(to.schema))
	for _, schema := range g.config.ExtraSearchPath {
		path = append(path, quote(schema))
	}
	set("search_path", strings.Join(path, ", "))
	set("role", who.role)
	set("request.jwt.claims", string(who.claims))
	set("request.method", r.Method)
	set("request.path", to.path)
	// Neither a role's statement_timeout nor a function's would apply to the calling statement, so
	// both are set before the call, as PostgREST does. The function's wins.
	if f.timeout != "" {
		set("statement_timeout", f.timeout)
	} else {
		list = append(list, fmt.Sprintf(roleTimeoutSQL, s.bind(pgtype.NameOID, []byte(who.role))))
	}
	if to.read || !f.volatile {
		set("transaction_read_only", "on")
	}
	s.sql = "select " + strings.Join(list, ", ")
	return s
}
