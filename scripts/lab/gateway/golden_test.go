package gateway_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

//go:embed testdata/setup.sql
var setupSQL string

//go:embed testdata/exchanges.json
var exchangesJSON []byte

// exchange is a request and PostgREST's recorded response.
type exchange struct {
	Name    string
	Request struct {
		Method, Path, As string
		Headers          map[string]string
		Body             *string
	}
	Response struct {
		Status  int
		Headers map[string]string
		Body    string
	}
}

// TestGolden replays the recorded requests in order, because ids come from a sequence. The gateway
// must respond as recorded, and so must PostgREST if it is installed.
func TestGolden(t *testing.T) {
	t.Parallel()
	servers := map[string]func(testing.TB, *testbed.DB, ...string) (string, []byte){"gateway": testbed.Gateway}
	if testbed.HasPostgREST() {
		servers["postgrest"] = testbed.PostgREST
	}
	var exchanges []exchange
	if err := json.Unmarshal(exchangesJSON, &exchanges); err != nil {
		t.Fatal(err)
	}
	if len(exchanges) != 69 {
		t.Fatalf("%d exchanges, want 69", len(exchanges))
	}
	for name, serve := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := golden(t)
			baseURL, secret := serve(t, db, "golden")
			for _, e := range exchanges {
				t.Run(e.Name, func(t *testing.T) { e.check(t, baseURL, secret) })
			}
		})
	}
}

// golden is a database with the functions that the recording calls.
func golden(t testing.TB) *testbed.DB {
	t.Helper()
	db := testbed.Empty(t)
	execute(t, db, setupSQL)
	return db
}

// execute runs SQL as the owner of the database.
func execute(t testing.TB, db *testbed.DB, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := testbed.Connect(t, db.OwnerURL).Exec(ctx, sql); err != nil {
		t.Fatalf("set up database: %v", err)
	}
}

// headers are those that clients may rely on. If one was not recorded, it must be absent.
var headers = []string{"Content-Type", "Content-Range", "Content-Profile", "Proxy-Status", "WWW-Authenticate"}

func (e exchange) check(t *testing.T, baseURL string, secret []byte) {
	body := ""
	if e.Request.Body != nil {
		body = *e.Request.Body
	}
	request, err := http.NewRequest(e.Request.Method, baseURL+e.Request.Path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token := tokenOf(t, e.Request.As, secret); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range e.Request.Headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != e.Response.Status {
		t.Errorf("status %d, want %d", response.StatusCode, e.Response.Status)
	}
	for _, name := range headers {
		if got, want := response.Header.Get(name), e.Response.Headers[name]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got, want := reliedOn(t, got), reliedOn(t, []byte(e.Response.Body)); !reflect.DeepEqual(got, want) {
		t.Errorf("body\n%#v, want\n%#v", got, want)
	}
}

// reliedOn returns a body without what may vary: white space, hints, and the expiry in returned
// claims.
func reliedOn(t *testing.T, body []byte) any {
	t.Helper()
	if len(body) == 0 {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber() // 9007199254740993 is not a float64
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	switch value := value.(type) {
	case map[string]any:
		delete(value, "hint")
	case []any:
		for _, row := range value {
			if row, ok := row.(map[string]any); ok {
				if text, ok := row["claims"].(string); ok {
					var claims map[string]any
					if err := json.Unmarshal([]byte(text), &claims); err != nil {
						t.Fatalf("claims %q: %v", text, err)
					}
					if _, ok := claims["exp"].(float64); ok {
						claims["exp"] = "a time"
					}
					row["claims"] = claims
				}
			}
		}
	}
	return value
}

var client = &http.Client{Timeout: time.Minute}

// tokenOf creates the token of one of the recording's callers; "" means none.
func tokenOf(t testing.TB, as string, secret []byte) string {
	t.Helper()
	claims := map[string]any{"exp": time.Now().Add(time.Hour).Unix(), "role": as}
	switch as {
	case "none":
		return ""
	case "garbage":
		return "garbage"
	case "badsig":
		claims["role"], secret = "service_role", []byte("another secret, as long as the one expected")
	case "expired":
		claims["role"], claims["exp"] = "service_role", time.Now().Add(-time.Hour).Unix()
	case "norole":
		claims["role"] = "nobody_known"
	case "user1":
		claims["role"], claims["aud"], claims["sub"] = "authenticated", "authenticated", "11111111-1111-1111-1111-111111111111"
	case "user2":
		claims["role"], claims["aud"], claims["sub"] = "authenticated", "authenticated", "22222222-2222-2222-2222-222222222222"
	}
	token, err := gateway.Token(secret, claims)
	if err != nil {
		t.Fatal(err)
	}
	return token
}
