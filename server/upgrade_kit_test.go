package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/supabase"
)

func (u *upgrade) do(sql string) {
	u.t.Helper()
	if _, err := u.owner.Exec(u.t.Context(), sql); err != nil {
		u.t.Fatalf("%s: %v", sql, err)
	}
}

// run returns what a verb prints.
func (u *upgrade) run(program string, verb ...string) (out string, err error) {
	command := exec.CommandContext(u.t.Context(), program, verb...)
	command.Env = environment(u.settings)
	all, err := command.CombinedOutput()
	return string(all), err
}

// must runs a verb of this program.
func (u *upgrade) must(verb ...string) (out string) {
	u.t.Helper()
	out, err := u.run(os.Args[0], verb...)
	if err != nil {
		u.t.Fatalf("%v: %v: %s", verb, err, out)
	}
	return out
}

func until(t *testing.T, otherwise string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
	}
}

// called returns how often a program has called a function of the database.
func called(t *testing.T, p *program, function string) (times int) {
	t.Helper()
	metrics := fetch(t, http.MethodGet, p.url+"/metrics", "", http.StatusOK)
	count := regexp.MustCompile(`rpc_duration_seconds_count\{function="` + function + `",status="2xx"\} (\d+)`).FindStringSubmatch(metrics)
	if count != nil {
		times, _ = strconv.Atoi(count[1])
	}
	return times
}

// nextRelease returns the migrations with those of testdata/upgrade, and a program that knows them,
// which exists after a call of built.
func nextRelease(t *testing.T) (folder fs.FS, program string, built func()) {
	t.Helper()
	all := t.TempDir()
	files, err := filepath.Glob("testdata/upgrade/2*.sql")
	if err == nil {
		err = os.CopyFS(all, supabase.Migrations())
	}
	replace := map[string]string{}
	for _, file := range files {
		from, _ := filepath.Abs(file)
		to, _ := filepath.Abs(filepath.Join("../supabase/migrations", filepath.Base(file)))
		replace[to] = from
		err = errors.Join(err, os.WriteFile(filepath.Join(all, filepath.Base(file)), []byte(text(t, file)), 0o600))
	}
	overlay, _ := json.Marshal(map[string]any{"Replace": replace})
	program = filepath.Join(t.TempDir(), "next")
	err = errors.Join(err, os.WriteFile(program+".json", overlay, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", program+".json", "-o", program, ".")
	build.Stdout, build.Stderr = &out, &out
	if err := build.Start(); err != nil {
		t.Fatal(err)
	}
	return os.DirFS(all), program, func() {
		t.Helper()
		if err := build.Wait(); err != nil {
			t.Fatalf("%v: %s", err, &out)
		}
	}
}

// sampleOf returns a folder with the first tickets and documents of the sample.
func sampleOf(t *testing.T, tickets, documents int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	lines := strings.SplitAfter(text(t, "../supabase/sample/tickets.jsonl"), "\n")
	files := map[string]string{"tracker/projects.jsonl": text(t, "../supabase/sample/projects.jsonl"), "tracker/tickets.jsonl": strings.Join(lines[:tickets], "")}
	notes, err := filepath.Glob("../supabase/sample/documents/*.md")
	if err != nil || len(notes) < documents {
		t.Fatalf("%d documents, %v", len(notes), err)
	}
	for _, note := range notes[:documents] {
		files["documents/"+filepath.Base(note)] = text(t, note)
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func text(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// keepRows copies all tables into the schema upgraded. A table with fewer rows fails the test.
func (u *upgrade) keepRows(atLeast int64) {
	u.t.Helper()
	rows, _ := u.owner.Query(u.t.Context(), `select schemaname || '.' || tablename from pg_tables where schemaname in ('public', 'tasklens') order by 1`)
	var err error
	if u.tables, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		u.t.Fatal(err)
	}
	u.do(`drop schema if exists upgraded cascade; create schema upgraded`)
	for _, table := range u.tables {
		kept, err := u.owner.Exec(u.t.Context(), `create table `+copyOf(table)+` as table `+table)
		if err != nil || kept.RowsAffected() < atLeast {
			u.t.Errorf("%s has %d rows, %v: testdata/upgrade/before.sql writes some of each table", table, kept.RowsAffected(), err)
		}
	}
}

func copyOf(table string) string {
	_, name, _ := strings.Cut(table, ".")
	return "upgraded." + name
}

// compareRows fails the test if a kept row that meets the condition is gone or has changed, apart
// from these columns.
func (u *upgrade) compareRows(table, condition, columns string) {
	u.t.Helper()
	var lost []string
	err := u.owner.QueryRow(u.t.Context(), `select array(select left(j::text, 1000) from (
		select to_jsonb(b) - $1::text[] as j from (select * from `+copyOf(table)+` where `+condition+`) b
		except all select to_jsonb(n) - $1::text[] from `+table+` n) l limit 3)`, columns).Scan(&lost)
	if err != nil || len(lost) > 0 {
		u.t.Errorf("%s: rows are lost or changed: %v %q", table, err, lost)
	}
}

// functions lists all functions, each with its callers, settings and comment.
func (u *upgrade) functions() (lines []string) {
	u.t.Helper()
	rows, _ := u.owner.Query(u.t.Context(), `
		select concat_ws(' ', f.oid::regprocedure, f.prosecdef, f.provolatile, f.proconfig, obj_description(f.oid),
			(select string_agg(concat_ws(' ', a.grantee::regrole, a.privilege_type), ',' order by a.grantee) from aclexplode(f.proacl) a))
		from pg_proc f where f.pronamespace in ('public'::regnamespace, 'tasklens'::regnamespace) order by 1`)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		u.t.Fatal(err)
	}
	return lines
}

// volatile is what differs between two equal responses: of edits, of chunks that were stored again
// and of the time.
var volatile = regexp.MustCompile(`"(updated_at|chunk_id|query_id|freshness_boost|final_score|cached)":[^,}]*,?`)

// results returns the responses to some requests.
func results(t *testing.T, url string) (all []string) {
	t.Helper()
	for _, r := range [][2]string{
		{"/api/hybrid-search", `{"query": "payment timeout", "limit": 50, "facets": true}`}, {"/api/hybrid-search", `{"query": "the sentinel guards the gate"}`},
		{"/api/hybrid-search", `{"query": "copied lantern"}`}, {"/api/hybrid-search", `{"query": "", "filters": {"open": true}, "sort": "newest", "limit": 50}`},
		{"/api/query", `{"question": "How was the double charge fixed?", "corpus": "all"}`}, {"/api/tickets/similar", `{"text": "Order paid two times"}`},
		{"/api/knowledge/search?q=design+tokens&threshold=0", ""}, {"/api/statuses", ""}, {"/api/projects", ""},
	} {
		method := http.MethodPost
		if r[1] == "" {
			method = http.MethodGet
		}
		said := fetch(t, method, url+r[0], r[1], http.StatusOK)
		if strings.Contains(said, `"results":[]`) {
			t.Errorf("%v finds nothing", r)
		}
		all = append(all, r[0]+" "+volatile.ReplaceAllString(said, ""))
	}
	return all
}
