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

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

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

// The body of a rejected token is not read if it is long: the connection is reset with the next
// request on it, or every second time before the answer arrives. A short body's answer always does.
func TestRejectedTokensReset(t *testing.T) {
	t.Parallel()
	s := serve(t)
	fresh := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	t.Cleanup(fresh.CloseIdleConnections)
	for i, long := range []bool{true, true, false, false, true, true} {
		body := `{"a": 1}`
		if long {
			body += strings.Repeat(" ", 20_000)
		}
		request, err := http.NewRequest("POST", s.baseURL+"/rpc/add_up", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+tokenOf(t, "badsig", s.secret))
		response, err := fresh.Do(request)
		if lost := long && i%2 == 1; (err != nil) != lost {
			t.Errorf("request %d: %v", i, err)
		}
		if err != nil {
			continue
		}
		told, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Errorf("request %d: %v", i, err)
		}
		s.wantCode(reply{response.StatusCode, response.Header, string(told)}, 401, "PGRST301")
	}
}
