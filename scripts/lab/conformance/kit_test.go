// Package conformance_test holds what must not change while the program is rebuilt: the specified
// behaviour (docs/specification.md) and a recording of requests. It knows the program by its
// settings, its HTTP API and its SQL alone.
package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

// patience limits each wait for something that has no fixed duration.
const patience = time.Minute

// built is the folder of the built program, if a test needed it.
var built string

var program = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "conformance"); err != nil {
		return "", err
	}
	path = filepath.Join(built, "tasklens")
	build := exec.Command("go", "build", "-o", path, "tasklens/server")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return path, build.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

// stack is a database with PostgREST over it and a model, and the settings by which a program finds
// them.
type stack struct {
	db       *testbed.DB
	settings map[string]string
	secret   []byte // signs tokens
}

// newStack starts one with this model until the test ends.
func newStack(t testing.TB, model http.Handler, settings map[string]string) stack {
	t.Helper()
	db := testbed.Database(t)
	rest, secret := testbed.REST(t, db)
	provider := httptest.NewServer(model)
	t.Cleanup(provider.Close)
	s := stack{db: db, secret: secret, settings: map[string]string{"SUPABASE_URL": rest, "SUPABASE_REST_URL": rest, "SUPABASE_SCHEMA": testbed.Schema(),
		"SUPABASE_SECRET_KEY": testbed.Token(t, secret, "service_role"), "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": provider.URL + "/v1"}}
	maps.Copy(s.settings, settings)
	return s
}

func (s stack) command(t testing.TB, settings map[string]string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("build the program: %v", err)
	}
	command := exec.Command(path, args...)
	command.Dir = "../../.."
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	for _, settings := range []map[string]string{s.settings, settings} {
		for name, value := range settings {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	return command
}

// run runs a verb to its end.
func (s stack) run(t testing.TB, args ...string) {
	t.Helper()
	if output, err := s.command(t, nil, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// serve starts the service until the test ends and returns its address.
func (s stack) serve(t testing.TB, settings map[string]string) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	settings = maps.Clone(settings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings["PORT"] = port
	command := s.command(t, settings, "serve")
	log := &bytes.Buffer{}
	command.Stderr = log
	_ = listener.Close()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // the log shows how it ended
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("the service's log:\n%s", log)
		}
	})
	url = "http://" + address
	poll(t, "the service listens", func() bool {
		response, err := http.Get(url + "/healthz")
		if err != nil {
			return false
		}
		return response.Body.Close() == nil
	})
	return url
}

// poll waits until a condition holds.
func poll(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// token signs an access token. The claims override those of a user's valid one.
func (s stack) token(t testing.TB, user string, claims map[string]any) string {
	t.Helper()
	all := map[string]any{"iss": s.settings["SUPABASE_URL"] + "/auth/v1", "aud": "authenticated", "role": "authenticated", "sub": user,
		"exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	token, err := gateway.Token(s.secret, all)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// reply is a response that was read.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a request. A body is sent as JSON.
func ask(t testing.TB, method, url, body string, headers ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return reply{response.StatusCode, response.Header, text}
}

// decode reads a reply of status 200.
func decode[T any](t testing.TB, r reply) (value T) {
	t.Helper()
	if r.status != http.StatusOK {
		t.Errorf("status %d: %s", r.status, r.body)
	} else if err := json.Unmarshal(r.body, &value); err != nil {
		t.Errorf("%v: %s", err, r.body)
	}
	return value
}

// execute runs statements, each in its own transaction.
func execute(t testing.TB, db *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// rows returns a query's rows.
func rows[T any](t testing.TB, db interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}, to pgx.RowToFunc[T], sql string, arguments ...any,
) []T {
	t.Helper()
	found, err := db.Query(t.Context(), sql, arguments...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(found, to)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return all
}
