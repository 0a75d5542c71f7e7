package main

import (
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

// ofImports return rows for the elements of an argument, at most a batch of which is passed. The
// tests of internal/load have batches of every size.
var ofImports = []string{"begin_import", "link_imported_tickets", "prune_import", "upsert_projects", "upsert_tickets"}

// manyRows fills every table that a response may list with more rows than PostgREST returns. All
// contain the same word. A few of them are to be embedded.
const manyRows = `
	insert into public.status (name) select 'Status ' || i from generate_series(1, 1100) i;
	insert into public.projects (key, name, description) select 'P' || i, 'Project ' || i, 'Pumps' from generate_series(1, 1100) i;
	insert into public.tickets (project_id, status_id, key, name, assignee, reporter, ticket_type, priority, labels)
		select p.project_id, s.status_id, p.key || '-1', 'The pump leaks ' || p.key, 'Person ' || p.key, 'Person ' || p.key, 'Type ' || p.key, 'Priority ' || p.key, array['Label ' || p.key]
		from public.projects p join public.status s on s.name = 'Status ' || substr(p.key, 2);
	insert into public.comments (ticket_id, key, author, body, created_at)
		select ticket_id, 'c' || i, 'Ada', 'The pump leaks again', now() from public.tickets, generate_series(1, 1100) i where key = 'P1-1';
	insert into public.documents (title, content, named_entities) select 'Pump ' || i, 'The pump leaks', '[{"name": "Ada", "type": "person"}]' from generate_series(1, 1100) i;
	insert into tasklens.query_log (query_id, asked_at, kind, question, outcome, total_ms)
		select gen_random_uuid(), now(), 'query', 'Who is ' || i, 'nothing', 1 from generate_series(1, 1100) i;
	delete from tasklens.embedding_jobs where embedding_job_id % 50 > 0;
	analyze` // as the database does by itself within a minute

// Every function that the service calls and that returns a set is called over more rows than a
// response may have. The testbed fails the test if one is cut.
func TestNoResponseIsCut(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	called := map[string]bool{}
	db := testbed.Database(t)
	db.Served = func(function string, _ int64) {
		mutex.Lock()
		defer mutex.Unlock()
		called[function] = true
	}
	owner, settings := startStackOver(t, db)
	if _, err := owner.Exec(t.Context(), manyRows); err != nil {
		t.Fatal(err)
	}
	service := startProgram(t, with(settings, "MATCH_THRESHOLD", "0"))
	await(t, owner, 0, `select count(*) from tasklens.embedding_jobs`)
	ask := func(method, path, body string) { fetch(t, method, service.url+path, body, http.StatusOK) }
	var ticket, document string
	if err := owner.QueryRow(t.Context(), `select (select min(ticket_id) from chunks where ticket_id is not null)::text, (select min(document_id::text) from document_chunks)`).
		Scan(&ticket, &document); err != nil {
		t.Fatal(err)
	}
	ask(http.MethodGet, "/readyz", "")
	ask(http.MethodGet, "/api/projects", "")
	ask(http.MethodGet, "/api/statuses", "")
	ask(http.MethodPost, "/api/hybrid-search", `{"query": "pump", "limit": 100, "facets": true}`)
	ask(http.MethodPost, "/api/hybrid-search", `{"query": "pump", "limit": 100, "offset": 900}`)
	ask(http.MethodPost, "/api/hybrid-search", `{"query": "", "filters": {"open": true}, "sort": "newest", "limit": 100, "facets": true}`)
	ask(http.MethodPost, "/api/hybrid-search", `{"query": "", "filters": {"assignee": "Perso", "labels": "Lab", "projects": "Proj", "statuses": "Stat"}}`)
	for _, more := range []string{``, `, "retrieval": "hybrid"`, `, "corpus": "all"`, `, "corpus": "documents"`} {
		ask(http.MethodPost, "/api/query", `{"question": "Why does the pump leak?", "top_k": 20`+more+`}`)
	}
	ask(http.MethodPost, "/api/query", `{"question": "How many?", "read_as": {"intent": "count", "filters": {"assignee": ["Perso"], "projects": ["Proj"]}}}`)
	ask(http.MethodGet, "/api/tickets/"+ticket, "")
	ask(http.MethodGet, "/api/tickets/"+ticket+"/similar?limit=100", "")
	ask(http.MethodPost, "/api/tickets/similar", `{"text": "The pump leaks", "limit": 100}`)
	ask(http.MethodPost, "/api/embeddings/generate", `{"project_id": 1, "force": true}`)
	ask(http.MethodGet, "/api/knowledge/search?q=pump&limit=100&threshold=0", "")
	ask(http.MethodGet, "/api/knowledge/search?q=pump&limit=100&threshold=0&hybrid=true", "")
	ask(http.MethodGet, "/api/knowledge/documents/"+document+"/similar?limit=100", "")
	ask(http.MethodGet, "/api/knowledge/entities/Ada?limit=100", "")
	ask(http.MethodPost, "/api/knowledge/enrich/batch", `{"batch_size": 100}`)
	fetch(t, http.MethodPost, service.url+"/api/knowledge/documents", `{"title": "Pump", "content": "It leaks"}`, http.StatusCreated)
	command := exec.CommandContext(t.Context(), os.Args[0], "check")
	command.Env = slices.Clone(service.command.Env)
	_ = command.Run() // it has findings
	if testbed.HasPostgREST() {
		return // which does not report what it serves
	}
	mutex.Lock()
	defer mutex.Unlock()
	for _, function := range setsAskedFor(t, owner) {
		if !called[function] && !slices.Contains(ofImports, function) {
			t.Errorf("the service calls %s, and this test does not: does it return more than 1,000 rows?", function)
		}
	}
}

// setsAskedFor returns the functions that return several rows and that the service's source names.
func setsAskedFor(t *testing.T, owner *pgx.Conn) (functions []string) {
	t.Helper()
	rows, _ := owner.Query(t.Context(), `select proname::text from pg_proc where pronamespace = 'public'::regnamespace and proretset and prorows > 1`)
	sets, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`"(\w+)"`)
	for _, folder := range []string{".", "../internal"} {
		err = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, match := range named.FindAllSubmatch(source, -1) {
				if name := string(match[1]); slices.Contains(sets, name) && !slices.Contains(functions, name) {
					functions = append(functions, name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(functions) < 20 {
		t.Errorf("only %v are found in the source", functions)
	}
	return functions
}
