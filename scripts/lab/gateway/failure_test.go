package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

const eventually = 20 * time.Second

// sleepers counts the sleeping statements in the test's database.
func (s rest) sleepers() int {
	s.t.Helper()
	var n int
	err := testbed.Connect(s.t, s.db.SuperuserURL).QueryRow(context.Background(),
		`select count(*) from pg_stat_activity where datname = current_database() and usename = 'authenticator' and state = 'active' and wait_event = 'PgSleep'`).Scan(&n)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
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

func TestClientLeaves(t *testing.T) {
	t.Parallel()
	s := serve(t)
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	request, err := http.NewRequestWithContext(ctx, "POST", s.baseURL+"/rpc/sleep", strings.NewReader(`{"seconds": 600}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+tokenOf(t, "service_role", s.secret))
	done := make(chan error)
	go func() {
		response, err := client.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		done <- err
	}()
	await(t, 1, s.sleepers)
	leave()
	if err := <-done; err == nil {
		t.Error("the request was answered")
	}
	await(t, 0, s.sleepers)
	s.want(s.post("add_up", `{"a": 1}`), "200 11")
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	s := serve(t)
	g := s.gateway(gateway.Config{})
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	s.wantCode(s.serve(ctx, g, "sleep", `{"seconds": 600}`), 500, "57014")
	await(t, 0, s.sleepers)
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

func TestNoDatabase(t *testing.T) {
	t.Parallel()
	s := serve(t)
	g := s.gateway(gateway.Config{DatabaseURL: "postgres://authenticator:hidden@127.0.0.1:1/nothing"})
	got := s.serve(context.Background(), g, "add_up", `{"a": 1}`)
	s.wantCode(got, 503, "PGRST000")
	if strings.Contains(got.body, "hidden") {
		t.Error("the response contains the password")
	}
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

// A connection keeps a limited number of prepared statements, and works on when it drops them.
func TestManyFunctions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	execute(t, s.db, `do $$ begin for i in 1..300 loop execute format('create function golden.f%s() returns int language sql as %L', i, 'select ' || i); end loop; end $$`)
	g := s.gateway(gateway.Config{MaxConns: 1})
	for range 2 {
		for i := 1; i <= 300; i++ {
			s.want(s.serve(context.Background(), g, fmt.Sprintf("f%d", i), ""), fmt.Sprintf("200 %d", i))
		}
	}
	var prepared int
	if got := s.serve(context.Background(), g, "prepared", ""); json.Unmarshal([]byte(got.body), &prepared) != nil || prepared > 260 {
		t.Errorf("prepared statements: %s", got)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	_, err := gateway.New(context.Background(), gateway.Config{MaxConns: -1})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"URL", "secret", "schema", "size"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name the %s", err, part)
		}
	}
}
