package postgrest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/fault"
	"tasklens/scripts/lab/gateway"
)

const key = "the-service-key"

func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return New(server.URL, key, "public")
}

func TestCall(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/rpc/add" || r.Header.Get("Content-Type") != "application/json" || string(body) != `{"a":1,"b":[2]}` {
			t.Errorf("the request was %s %s %q with the body %s", r.Method, r.URL, r.Header, body)
		}
		if r.Header.Get("Apikey") != key || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("the headers are %q", r.Header)
		}
		_, _ = io.WriteString(w, `[{"sum":3}]`)
	})
	var rows []struct{ Sum int }
	if err := client.AsService().Call(context.Background(), "add", map[string]any{"a": 1, "b": []int{2}}, &rows); err != nil || len(rows) != 1 || rows[0].Sum != 3 {
		t.Errorf("the result is %+v, %v", rows, err)
	}
	if err := client.AsService().Call(context.Background(), "add", map[string]any{"a": 1, "b": []int{2}}, nil); err != nil {
		t.Errorf("a call without a result returned %v", err)
	}
}

// The URL of a Supabase project's PostgREST has a path.
func TestAddress(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) { _ = json.NewEncoder(w).Encode(r.URL.Path) })
	for _, suffix := range []string{"/rest/v1", "/rest/v1/"} {
		var path string
		if err := New(strings.TrimRight(client.url, "/")+suffix, key, "public").AsService().Call(context.Background(), "f", nil, &path); err != nil || path != "/rest/v1/rpc/f" {
			t.Errorf("%s: the requested path was %q, %v", suffix, path, err)
		}
	}
}

// With many concurrent callers of one client, each sends its own token and gets its own response.
func TestCallersAreKeptApart(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Apikey") != key || len(r.Header["Authorization"]) != 1 {
			t.Errorf("the headers are %q", r.Header)
		}
		_ = json.NewEncoder(w).Encode(r.Header.Get("Authorization"))
	})
	var group sync.WaitGroup
	for caller := range 64 {
		group.Go(func() {
			token := fmt.Sprintf("token-%d", caller)
			session := client.AsUser(token)
			if caller%8 == 0 {
				token, session = key, client.AsService()
			}
			for range 10 {
				var seen string
				if err := session.Call(context.Background(), "who", map[string]any{}, &seen); err != nil || seen != "Bearer "+token {
					t.Errorf("the caller with the token %s got the response for %s, %v", token, seen, err)
				}
			}
		})
	}
	group.Wait()
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		_, _ = io.WriteString(w, "[]")
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/rpc/f", status) })
		err := client.AsService().Call(context.Background(), "f", nil, nil)
		if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%d: the error is %v, want unavailable", status, err)
		}
	}
	if elsewhere.Load() > 0 {
		t.Errorf("%d redirects were followed with the key", elsewhere.Load())
	}
}

// Neither a result nor an error is read for ever. How much a server has sent says little of that:
// the system buffers tens of megabytes.
func TestEndlessResponses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]fault.Code{http.StatusOK: fault.TooLarge, http.StatusInternalServerError: fault.Unavailable} {
		client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			for part := make([]byte, 1<<20); ; {
				if _, err := w.Write(part); err != nil {
					return // the client has disconnected
				}
			}
		})
		if err := client.AsService().Call(context.Background(), "f", nil, nil); fault.CodeOf(err) != want {
			t.Errorf("%d: the error for an endless response is %v, want %s", status, err, want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		service fault.Code
		user    fault.Code
	}{
		"bad token":                    {401, `{"code":"PGRST301","message":"m","details":null,"hint":null}`, fault.Unavailable, fault.Unauthorized},
		"expired token":                {401, `{"code":"PGRST303","message":"m"}`, fault.Unavailable, fault.Unauthorized},
		"401 without a code":           {401, `{"message":"No API key found in request"}`, fault.Unavailable, fault.Unauthorized},
		"unknown role":                 {401, `{"code":"22023","message":"role \"x\" does not exist"}`, fault.Unavailable, fault.Unauthorized},
		"permission denied":            {403, `{"code":"42501","message":"permission denied"}`, fault.Forbidden, fault.Forbidden},
		"permission denied, anonymous": {401, `{"code":"42501","message":"permission denied"}`, fault.Forbidden, fault.Forbidden},
		"unknown function":             {404, `{"code":"PGRST202","message":"m","hint":"h"}`, fault.Unavailable, fault.Unavailable},
		"statement timeout":            {500, `{"code":"57014","message":"m"}`, fault.Timeout, fault.Timeout},
		"gateway timeout":              {504, `<html>`, fault.Timeout, fault.Timeout},
		"too large":                    {413, `{"code":"PGRST102","message":"m"}`, fault.TooLarge, fault.TooLarge},
		"too large for the proxy":      {413, `<html>`, fault.TooLarge, fault.TooLarge},
		"bad gateway":                  {502, ``, fault.Unavailable, fault.Unavailable},
		"database is down":             {503, `{"code":"PGRST000","message":"m"}`, fault.Unavailable, fault.Unavailable},
		"database shuts down":          {503, `{"code":"57P01","message":"m"}`, fault.Unavailable, fault.Unavailable},
		"too many connections":         {500, `{"code":"53300","message":"m"}`, fault.Unavailable, fault.Unavailable},
		"connection lost":              {503, `{"code":"08006","message":"m"}`, fault.Unavailable, fault.Unavailable},
		"another server's 404":         {404, `<html>`, fault.Unavailable, fault.Unavailable},
		"body is null":                 {500, `null`, fault.Unavailable, fault.Unavailable},
		"invalid argument":             {400, `{"code":"22P02","message":"m"}`, fault.Internal, fault.Internal},
		"deadlock":                     {500, `{"code":"40P01","message":"m"}`, fault.Unavailable, fault.Unavailable},
		"dropped function":             {404, `{"code":"42883","message":"function public.f(a => integer) does not exist"}`, fault.Unavailable, fault.Unavailable},
		"missing inner function":       {404, `{"code":"42883","message":"function tasklens.other_f(integer) does not exist"}`, fault.Internal, fault.Internal},
	} {
		client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		for session, want := range map[*Session]fault.Code{client.AsService(): c.service, client.AsUser("token"): c.user} {
			err := session.Call(context.Background(), "f", nil, nil)
			if got := fault.CodeOf(err); got != want {
				t.Errorf("%s (service %t): the code is %s, want %s: %v", name, session.service, got, want, err)
			}
			var answer *Error
			if !errors.As(err, &answer) || answer.Status != c.status || answer.Message == "" {
				t.Errorf("%s: the error lacks the response's status or message: %v", name, err)
			}
		}
	}
}

// A transaction that was undone because of another is repeated, a few times.
func TestUndoneTransactions(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"40001", "40P01"} {
		for undone, want := range map[int64]int64{0: 1, 1: 2, 3: 4, 9: 4} {
			var calls atomic.Int64
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); string(body) != `{"a":1}` {
					t.Errorf("the body is %s", body)
				}
				if calls.Add(1) <= undone {
					w.WriteHeader(http.StatusInternalServerError)
					_, _ = io.WriteString(w, `{"code":"`+code+`","message":"m"}`)
					return
				}
				_, _ = io.WriteString(w, "7")
			})
			var result int
			err := client.AsService().Call(context.Background(), "f", map[string]any{"a": 1}, &result)
			if isDone := undone < want; calls.Load() != want || isDone != (err == nil && result == 7) || !isDone && fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("%s %d times: %d calls, %v", code, undone, calls.Load(), err)
			}
		}
	}
}

// PostgREST refuses a token without reading a long body, and resets the connection later. No other
// call is lost with it, even one that must not be sent twice.
func TestRefusedBodiesHarmNoOthers(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("s", 32))
	expired, err := gateway.Token(secret, map[string]any{"role": "authenticated", "exp": 1})
	if err != nil {
		t.Fatal(err)
	}
	refuses, err := gateway.New(t.Context(), gateway.Config{DatabaseURL: "postgres://127.0.0.1:1/none", JWTSecret: secret, Schemas: []string{"public"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(refuses.Close)
	var done atomic.Int64
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			refuses.ServeHTTP(w, r)
			return
		}
		done.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(body)
	})
	long := map[string]any{"a": strings.Repeat("x", 20_000)}
	for range 50 {
		err := client.AsUser(expired).Call(context.Background(), "f", long, nil)
		if failure, is := errors.AsType[*fault.Error](err); !is || failure.Reason != fault.TokenExpired {
			t.Fatalf("the refused call: %v", err)
		}
		var echo map[string]any
		if err := client.AsService().Call(context.Background(), "f", long, &echo); err != nil || echo["a"] != long["a"] {
			t.Fatalf("the next call: %v", err)
		}
	}
	if done.Load() != 50 {
		t.Errorf("%d calls were made", done.Load())
	}
}

// Database error messages go to the log, never to clients.
func TestErrorsKeepSecrets(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"code":"23505","message":"duplicate key","details":"Key (name)=(Ann) already exists.","hint":"h"}`)
	})
	err := client.AsUser("token").Call(context.Background(), "f", nil, nil)
	var failure *fault.Error
	if !errors.As(err, &failure) || strings.Contains(failure.Message, "Ann") || strings.Contains(failure.Message, "duplicate") {
		t.Errorf("the message for clients is %q", failure.Message)
	}
	for _, part := range []string{"call f", "409", "23505", "duplicate key"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in the error %v", part, err)
		}
	}
	// Details quote row values.
	for _, secret := range []string{key, "token", "Ann"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q is in the error %v", secret, err)
		}
	}
}

func TestNoResponse(t *testing.T) {
	t.Parallel()
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := client.AsService().Call(ctx, "f", nil, nil); fault.CodeOf(err) != fault.Timeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("at the deadline the error is %v", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := client.AsService().Call(cancelled, "f", nil, nil); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("after cancellation the error is %v", err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if err := New(gone.URL, key, "public").AsService().Call(context.Background(), "f", nil, nil); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("the error for a refused connection is %v", err)
	}
	cut := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "[")
	})
	if err := cut.AsService().Call(context.Background(), "f", nil, nil); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("the error for a truncated response is %v", err)
	}
}
