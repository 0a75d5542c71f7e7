package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// What a verification writes: projects with these keys, documents with a keyword, users with
// addresses that begin with it, and statuses. scripts/verify-live writes the keys into the sample.
const (
	verifyMark    = "verify-live"
	verifyProject = "VERIFYTX" // the user's

	verifyDocuments = "keywords=cs.%7B" + verifyMark + "%7D"
)

var verifyKeys = []string{verifyProject, "VERIFYIAM", "VERIFYMOB", "VERIFYWEB", "VERIFYDATA", "VERIFYOPS", "VERIFYCST"}

var verifyByHand = fmt.Sprintf("Run scripts/verify-live again; or, in the SQL editor, delete from projects where key in ('%s'); delete from documents where '%s' = any (keywords); "+
	"and under Authentication the users %[2]s-…@example.com; statuses of a run that was killed stay", strings.Join(verifyKeys, "', '"), verifyMark)

// stored is what removal must leave as it was. tables has the rows of each, with a DATABASE_URL.
type stored struct {
	statuses string // a list of ids
	tables   map[string]int64
}

func (v *verification) count(ctx context.Context) (s stored, err error) {
	var rows []struct {
		ID int64 `json:"status_id"`
	}
	if _, err := v.rest(ctx, http.MethodGet, "rpc/list_statuses", nil, &rows); err != nil {
		return s, err
	}
	s.statuses = "0"
	for _, row := range rows {
		s.statuses += fmt.Sprint(",", row.ID)
	}
	s.tables, err = v.countTables(ctx)
	return s, err
}

// countTables returns the rows of each table of the migrations, nil without a DATABASE_URL. It
// forgets the imports, which PostgREST does not show.
func (v *verification) countTables(ctx context.Context) (counts map[string]int64, err error) {
	err = v.query(ctx, func(db *pgx.Conn) error {
		if _, err := db.Exec(ctx, `delete from tasklens.imports where origin = $1`, verifyMark); err != nil {
			return err
		}
		counts = map[string]int64{}
		found, _ := db.Query(ctx, `select part, (xpath('/row/n/text()', query_to_xml('select count(*) as n from ' || part, true, true, '')))[1]::text::bigint
			from tasklens.installed_parts where kind = 'table'`)
		var table string
		var n int64
		_, err := pgx.ForEachRow(found, []any{&table, &n}, func() error {
			counts[table] = n
			return nil
		})
		return err
	})
	if errors.As(err, &verdict{}) { // skipped
		err = nil
	}
	return counts, err
}

// removeRows removes what a verification wrote: statuses only if it knows which there were before.
func (v *verification) removeRows(ctx context.Context) (err error) {
	remove := func(address string) {
		_, failed := v.call(ctx, http.MethodDelete, address, v.key, nil, nil)
		err = errors.Join(err, failed)
	}
	var list struct{ Users []struct{ ID, Email string } }
	_, err = v.call(ctx, http.MethodGet, v.auth+"/admin/users?page=1&per_page=1000", v.key, nil, &list)
	for _, user := range list.Users {
		if strings.HasPrefix(user.Email, verifyMark+"-") && strings.HasSuffix(user.Email, "@example.com") {
			remove(v.auth + "/admin/users/" + user.ID)
		}
	}
	remove(v.SupabaseURL + "/rest/v1/documents?" + verifyDocuments)
	for _, key := range verifyKeys { // one by one, within the statement timeout
		remove(v.SupabaseURL + "/rest/v1/projects?key=eq." + key)
	}
	if v.before.statuses != "" {
		remove(v.SupabaseURL + "/rest/v1/status?status_id=not.in.(" + v.before.statuses + ")")
	}
	return err
}

// remove removes what was written, and verifies it.
func (v *verification) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	v.check(ctx, "nothing is left", verifyByHand, func() (string, error) {
		if err := v.removeRows(ctx); err != nil {
			return "", err
		}
		for _, of := range []string{"projects?select=key&key=in.(" + strings.Join(verifyKeys, ",") + ")", "documents?select=id&" + verifyDocuments} {
			var rows []map[string]any
			if _, err := v.rest(ctx, http.MethodGet, of, nil, &rows); err != nil || len(rows) > 0 {
				return of, errors.Join(err, fmt.Errorf("%d rows are left", len(rows)))
			}
		}
		now, err := v.count(ctx)
		if err != nil {
			return "", err
		}
		if now.tables == nil {
			return "no project, document or user; with DATABASE_URL every table is counted", nil
		}
		var changed []string
		for table, n := range now.tables {
			if n != v.before.tables[table] {
				changed = append(changed, fmt.Sprintf("%s %+d", table, n-v.before.tables[table]))
			}
		}
		slices.Sort(changed)
		if lost := slices.DeleteFunc(slices.Clone(changed), func(one string) bool { return strings.HasPrefix(one, "tasklens.") }); len(lost) > 0 {
			err = fmt.Errorf("(not bookkeeping: %v)", lost)
		}
		return fmt.Sprintf("%d tables have as many rows as before; bookkeeping: %s", len(now.tables)-len(changed), strings.Join(changed, ", ")), err
	})
}
