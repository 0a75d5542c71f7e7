package examples

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/offline"
	"tasklens/server/api/apitest"
)

// denoUnderNode stands in for what an Edge Function uses of Deno.
const denoUnderNode = `
import { createServer } from "node:http";
let handle;
globalThis.Deno = { env: { get: (name) => process.env[name] }, serve: (handler) => { handle = handler; } };
await import(process.argv[2]);
const server = createServer(async (request, response) => {
  try {
    const answer = await handle(new Request("http://function" + request.url, { method: request.method, headers: request.headers }));
    response.writeHead(answer.status).end(await answer.text());
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`

// startFunction runs an Edge Function under Node until the test ends, and gives its address.
func startFunction(t *testing.T, source string, env ...string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("the function runs under Node, which is not installed: run ./scripts/test, which installs it")
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"function.mjs": source, "deno.mjs": denoUnderNode} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, node, filepath.Join(folder, "deno.mjs"), filepath.Join(folder, "function.mjs"))
	command.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = command.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the function does not start: %v", err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

// The SQL and the function of docs/duplicates.md flag a copy of an earlier ticket; what could not
// be compared stays.
func TestFlagDuplicates(t *testing.T) {
	t.Parallel()
	const folder = "../../../docs/examples/duplicates"
	function, err := os.ReadFile(filepath.Join(folder, "index.ts"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := os.ReadFile(filepath.Join(folder, "flags.sql"))
	if err != nil {
		t.Fatal(err)
	}
	database := testbed.Database(t)
	owner := testbed.Connect(t, database.OwnerURL)
	if _, err := owner.PgConn().Exec(t.Context(), string(tables)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	service := apitest.Start(t, database, offline.NewHandler())
	rest, err := url.Parse(service.RESTURL)
	if err != nil {
		t.Fatal(err)
	}
	project := httptest.NewServer(http.StripPrefix("/rest/v1", httputil.NewSingleHostReverseProxy(rest)))
	t.Cleanup(project.Close)
	env := []string{"SUPABASE_URL=" + project.URL, "SUPABASE_SERVICE_ROLE_KEY=" + service.Key, "TASKLENS_TOKEN=" + service.Key}
	open := startFunction(t, string(function), append(env, "TASKLENS_URL="+service.URL)...)
	env = append(env, "HOOK_SECRET=s3cret")
	working := startFunction(t, string(function), append(env, "TASKLENS_URL="+service.URL)...)
	failing := startFunction(t, string(function), append(env, "TASKLENS_URL="+service.URL+"/nowhere")...)

	for _, statement := range []string{
		`insert into status (status_id, name) values (1, 'To Do')`,
		`insert into projects (project_id, key, name) values (1, 'TX', 'Checkout')`,
		`insert into tickets (ticket_id, project_id, status_id, key, name, description) values
			(1, 1, 1, 'TX-1', 'Card charged twice after a retry', 'The terminal retries the payment and the bank books it again.'),
			(2, 1, 1, 'TX-2', 'Export of invoices is slow', 'Nine minutes for a month of invoices.'),
			(3, 1, 1, 'TX-3', 'Card charged twice after a retry', 'The terminal retries the payment and the bank books it again.')`,
		// The decision needs a model that is measured.
		fmt.Sprintf(`select store_match_thresholds(jsonb_build_array(jsonb_build_object('embedding_model', '%s', 'dimensions', 1536, 'match_threshold', 0.7,
			'right_over', 1, 'related_over', 0, 'unrelated_over', 0, 'unrelated_median', 0.6, 'judged_set', 's')))`, offline.EmbeddingModel),
	} {
		if _, err := owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	call := func(url, secret string, status int, want string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+secret)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != status || !strings.Contains(string(text), want) {
			t.Fatalf("status %d, %s, %v; want %d, %s", response.StatusCode, text, err, status, want)
		}
	}
	call(open, "undefined", http.StatusForbidden, "secret") // no secret is set
	call(working, "guess", http.StatusForbidden, "secret")
	call(failing, "s3cret", http.StatusInternalServerError, "status 404")
	call(working, "s3cret", http.StatusOK, `{"checked":3,"flagged":1}`)
	call(working, "s3cret", http.StatusOK, `{"checked":0,"flagged":0}`)
	rows, err := owner.Query(t.Context(), `select format('%s of %s', ticket_id, duplicate_of) from ticket_flags where duplicate_score = 1`)
	if err != nil {
		t.Fatal(err)
	}
	if flags, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || !slices.Equal(flags, []string{"3 of 1"}) {
		t.Errorf("flagged are %q, %v", flags, err)
	}
}
