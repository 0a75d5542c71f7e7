package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/gateway"
)

// database checks what is there before anything is written, and reports whether the rest may run.
func (v *verification) database(ctx context.Context) bool {
	v.title = "Database"
	v.check(ctx, "nothing of others", "Check SUPABASE_URL and SUPABASE_SECRET_KEY; apply the migrations; use a Supabase project without tickets", func() (string, error) {
		var rows []project
		if _, err := v.rest(ctx, http.MethodGet, "rpc/list_projects", nil, &rows); err != nil {
			return "", err
		}
		ours, others, theirs := 0, 0, 0
		for _, row := range rows {
			if slices.Contains(verifyKeys, row.Key) {
				ours += row.Tickets
			} else {
				others, theirs = others+1, theirs+row.Tickets
			}
		}
		if others > 0 {
			return "", fmt.Errorf("%d projects with %d tickets are not this command's, which writes and removes: it refuses them", others, theirs)
		}
		return fmt.Sprintf("%d tickets left by an earlier run", ours), nil
	})
	v.check(ctx, "tasklens check", "Correct the settings: docs/settings.md", func() (string, error) {
		printed, err := v.run(ctx, "", v.Server, "check", "--json")
		var list struct {
			Findings []struct{ Severity, Subject, Finding, Remedy string }
		}
		if json.Unmarshal(printed, &list) != nil {
			return "", err
		}
		for _, f := range list.Findings {
			v.line(strings.Replace(f.Severity, "error", "FAILED", 1), f.Subject, f.Finding, f.Remedy)
		}
		return fmt.Sprintf("%d findings, above", len(list.Findings)), nil
	})
	for _, one := range [][2]string{
		{"Postgres", `select current_setting('server_version') || ', pgvector ' || (select extversion from pg_catalog.pg_extension where extname = 'vector')`},
		{"statement timeouts of roles", `select string_agg(rolname || ' ' || coalesce(substring(rolconfig::text from 'statement_timeout=([^,}]+)'), 'none'), ', ' order by rolname)
			from pg_catalog.pg_roles where rolname in ('anon', 'authenticated', 'authenticator', 'service_role')`},
	} {
		v.check(ctx, one[0], "Check DATABASE_URL (Connect in the dashboard)", func() (text string, err error) {
			err = v.query(ctx, func(db *pgx.Conn) error { return db.QueryRow(ctx, one[1]).Scan(&text) })
			return text, err
		})
	}
	for _, command := range []string{"lint --schema public,tasklens --level warning", "advisors --level warn"} {
		words := strings.Fields(command)
		v.check(ctx, "supabase db "+words[0], "Read its findings: npx supabase db "+command, func() (string, error) {
			address, err := url.Parse(v.DatabaseURL)
			if err != nil || v.DatabaseURL == "" || v.StandIns {
				return "", verdict{"skipped", "needs the DATABASE_URL of a project"}
			}
			address.User = url.User(address.User.Username()) // the password is no argument
			words = slices.Concat([]string{"db", words[0], "--remote=" + address.String(), "--fail-on", words[len(words)-1]}, words[1:])
			if printed, err := v.run(ctx, "PGPASSWORD="+passwordOf(v.DatabaseURL), v.CLI, words...); err != nil {
				return "", verdict{"warning", fmt.Sprintf("%v %.300s", err, printed)}
			}
			return "no findings", nil
		})
	}
	return v.counts["FAILED"] == 0 && ctx.Err() == nil
}

// query runs a query of the database's owner.
func (v *verification) query(ctx context.Context, run func(*pgx.Conn) error) error {
	if v.DatabaseURL == "" {
		return verdict{"skipped", "needs DATABASE_URL"}
	}
	db, err := pgx.Connect(ctx, v.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	return run(db)
}

func (v *verification) postgREST(ctx context.Context) {
	v.title = "PostgREST"
	v.check(ctx, "version", "", func() (string, error) {
		var document struct{ Info struct{ Version string } }
		if _, err := v.rest(ctx, http.MethodGet, "", nil, &document); err != nil || document.Info.Version == "" {
			return "", verdict{"skipped", "it does not say it"}
		}
		return document.Info.Version, nil
	})
	v.check(ctx, "reading functions by GET", "Apply the migrations; then: notify pgrst, 'reload schema';", func() (string, error) {
		called := []string{"list_projects", "list_statuses", "caller_role", "search_by_keyword?query_text=payment"}
		for _, function := range called {
			if _, err := v.rest(ctx, http.MethodGet, "rpc/"+function, nil, nil); err != nil {
				return function, err
			}
		}
		return strings.Join(called, ", "), nil
	})
	v.check(ctx, "row limit", "Set Max rows (Settings → API) to 1000 or more: functions return up to 1,000", func() (string, error) {
		var tickets []struct {
			ID int64 `json:"ticket_id"`
		}
		_, err := v.rest(ctx, http.MethodGet, "tickets?select=ticket_id&key=eq."+verifyProject+"-400", nil, &tickets)
		if err != nil || len(tickets) != 1 {
			return "", cmp.Or(err, errors.New("the sample is not there"))
		}
		changes := make([]map[string]any, gateway.MaxRows+1)
		for i := range changes {
			changes[i] = map[string]any{"ticket_id": tickets[0].ID}
		}
		if _, err := v.rest(ctx, http.MethodPost, "status_changes", changes, nil); err != nil {
			return "", err
		}
		var rows []json.RawMessage
		these := fmt.Sprintf("status_changes?status_id=is.null&ticket_id=eq.%d", tickets[0].ID)
		response, err := v.rest(ctx, http.MethodGet, these+"&select=status_change_id", nil, &rows)
		if err == nil {
			_, err = v.rest(ctx, http.MethodDelete, these, nil, nil)
		}
		if err == nil && len(rows) < gateway.MaxRows {
			err = errors.New("is less than 1,000")
		}
		return fmt.Sprintf("%d rows, %s", len(rows), response.Header.Get("Content-Range")), err
	})
}
