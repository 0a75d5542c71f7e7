package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

const eventually = 20 * time.Second

// waiters counts the statements that wait for the lock of hold.
func (s rest) waiters() int {
	s.t.Helper()
	var n int
	err := testbed.Connect(s.t, s.db.SuperuserURL).QueryRow(context.Background(),
		`select count(*) from pg_stat_activity where datname = current_database() and usename = 'authenticator' and wait_event = 'advisory'`).Scan(&n)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// hold takes the lock that some functions wait for. Closing the connection releases it.
func (s rest) hold() *pgx.Conn {
	s.t.Helper()
	conn := testbed.Connect(s.t, s.db.OwnerURL)
	if _, err := conn.Exec(s.t.Context(), `select pg_advisory_lock(1)`); err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// leave calls a function and disconnects once it waits.
func (s rest) leave(baseURL, function string) {
	s.t.Helper()
	ctx, leave := context.WithCancel(s.t.Context())
	defer leave()
	request, err := http.NewRequestWithContext(ctx, "POST", baseURL+"/rpc/"+function, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+tokenOf(s.t, "service_role", s.secret))
	done := make(chan error)
	go func() {
		response, err := client.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		done <- err
	}()
	await(s.t, 1, s.waiters)
	leave()
	if err := <-done; err == nil {
		s.t.Error("the request was answered")
	}
}

// await polls until ask returns want, and fails on a timeout.
func await[T comparable](t testing.TB, want T, ask func() T) {
	t.Helper()
	var got T
	for deadline := time.Now().Add(eventually); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = ask(); got == want {
			return
		}
	}
	t.Fatalf("still %v, want %v", got, want)
}

// PostgREST does not notice that a client left.
func TestRunsOnWithoutItsClient(t *testing.T) {
	t.Parallel()
	s := serve(t)
	lock := s.hold()
	s.leave(s.baseURL, "wait_and_count")
	if err := lock.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, true, func() (counted bool) {
		if err := testbed.Connect(t, s.db.OwnerURL).QueryRow(t.Context(), `select is_called from golden.calls`).Scan(&counted); err != nil {
			t.Fatal(err)
		}
		return counted
	})
}

// What ends a statement without its client, and frees the connection, is its timeout.
func TestStatementTimeoutFreesTheConnection(t *testing.T) {
	t.Parallel()
	s := serve(t)
	server := httptest.NewServer(s.gateway(gateway.Config{MaxConns: 1}))
	t.Cleanup(server.Close)
	s.hold()
	s.leave(server.URL, "wait_a_little")
	s.baseURL = server.URL
	s.want(s.post("add_up", `{"a": 1}`), "200 11")
	if n := s.waiters(); n != 0 {
		t.Errorf("%d statements still wait", n)
	}
}

func TestTimeoutOfTheRole(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for as, want := range map[string]string{"none": "3s", "anon": "3s", "user1": "8s", "service_role": "8s"} {
		token := "Bearer " + tokenOf(t, as, s.secret)
		if as == "none" {
			token = ""
		}
		s.want(s.post("timeout", "", "Authorization", token), `200 "`+want+`"`)
		s.want(s.post("own_timeout", "", "Authorization", token), `200 "5s"`)
	}
}

// gateway creates a gateway without a server.
func (s rest) gateway(c gateway.Config) *gateway.Gateway {
	s.t.Helper()
	if c.DatabaseURL == "" {
		c.DatabaseURL = s.db.AuthenticatorURL
	}
	c.JWTSecret, c.Schemas = s.secret, []string{"golden"}
	g, err := gateway.New(context.Background(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(g.Close)
	return g
}

func (s rest) serve(ctx context.Context, g *gateway.Gateway, function, body string) reply {
	s.t.Helper()
	request := httptest.NewRequestWithContext(ctx, "POST", "/rpc/"+function, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+tokenOf(s.t, "service_role", s.secret))
	recorder := httptest.NewRecorder()
	g.ServeHTTP(recorder, request)
	return reply{recorder.Code, recorder.Header(), recorder.Body.String()}
}

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.want(s.post("add_up", `{"a": 1}`), "200 11")
	admin := testbed.Connect(t, strings.Replace(s.db.SuperuserURL, "/"+s.db.Name, "/postgres", 1))
	change := func(sql string) {
		t.Helper()
		if _, err := admin.Exec(context.Background(), fmt.Sprintf(sql, s.db.Name)); err != nil {
			t.Fatal(err)
		}
	}
	change(`alter database "%s" allow_connections false`)
	change(`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '%s'`)
	if got := s.post("add_up", `{"a": 1}`); got.status != 503 {
		t.Errorf("the first request after the loss: %s", got)
	}
	s.wantCode(s.post("add_up", `{"a": 1}`), 503, "PGRST000")
	change(`alter database "%s" allow_connections true`)
	s.want(s.post("add_up", `{"a": 1}`), "200 11")
}

func TestAnonymousRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	recorder := httptest.NewRecorder()
	s.gateway(gateway.Config{}).ServeHTTP(recorder, httptest.NewRequest("POST", "/rpc/who", nil))
	got := reply{recorder.Code, recorder.Header(), recorder.Body.String()}
	s.wantCode(got, 401, "PGRST302")
	if got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Error("no challenge")
	}
}

// endless is a body without an end or a length.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestBodyTooLarge(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, body := range map[string]io.Reader{"declared": bytes.NewReader(make([]byte, gateway.MaxBody+1)), "chunked": endless{}} {
		request, err := http.NewRequest("POST", s.baseURL+"/rpc/add_up", body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: status %d", name, response.StatusCode)
		}
	}
}
