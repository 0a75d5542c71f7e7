package gateway_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

//go:embed testdata/behaviour.sql
var behaviourSQL string

// rest is a gateway over a database with the functions of both fixtures.
type rest struct {
	t       testing.TB
	db      *testbed.DB
	baseURL string
	secret  []byte
}

func serve(t testing.TB) rest {
	t.Helper()
	db := golden(t)
	execute(t, db, behaviourSQL)
	baseURL, secret := testbed.Gateway(t, db, "golden", "other")
	return rest{t: t, db: db, baseURL: baseURL, secret: secret}
}

// reply is a response with its body.
type reply struct {
	status int
	header http.Header
	body   string
}

// code returns the code of an error, else "".
func (r reply) code() string {
	var body struct{ Code string }
	_ = json.Unmarshal([]byte(r.body), &body) // the body need not be an object
	return body.Code
}

func (r reply) String() string { return fmt.Sprintf("%d %s", r.status, r.body) }

// send sends a request as service_role. headers alternate names and values.
func (s rest) send(method, path, body string, headers ...string) reply {
	s.t.Helper()
	request, err := http.NewRequest(method, s.baseURL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+tokenOf(s.t, "service_role", s.secret))
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(got)}
}

func (s rest) post(function, body string, headers ...string) reply {
	s.t.Helper()
	return s.send("POST", "/rpc/"+function, body, headers...)
}

func (s rest) want(got reply, want string) {
	s.t.Helper()
	if got.String() != want {
		s.t.Errorf("got %s, want %s", got, want)
	}
}

// wantCode expects an error.
func (s rest) wantCode(got reply, status int, code string) {
	s.t.Helper()
	if got.status != status || got.code() != code {
		s.t.Errorf("got %s, want %d with code %s", got, status, code)
	}
}

func TestPassesArgumentsAndShapesResults(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.want(s.post("joined", `{"words": ["a", "b"]}`), `200 "a+b"`)
	s.want(s.send("GET", "/rpc/joined?words={c,d}", ""), `200 "c+d"`)
	s.want(s.post("halves", `{"n": 5}`), `200 {"low":2,"high":3}`)
	s.want(s.post("one_out", ``), `200 {"x":5}`)
	s.want(s.post("Odd%20%22name%22", `{"an \"arg\", odd": "x", "gateway_row": "yz", "bits": "101"}`), `200 "xyz101"`)
	s.want(s.post("row_of_nulls", `{}`), `200 {"id":null,"owner":null,"body":null}`)
	s.want(s.post("no_value", `{}`), `200 ["x", null]`)
	s.want(s.post("clash", `{}`), `200 [{"gateway_result":1,"value":"v"}]`)
	s.want(s.post("add_up", `{"\u0061": 1, "b": 1, "b": 5}`), `200 6`)
	s.want(s.post("add_up", "\t{ \"a\" :\n1 , \"b\" : 2 }\r\n"), `200 3`)
	s.want(s.send("POST", "/rest/v1/rpc/add_up", `{"a": 1}`), `200 11`)
	if got := s.send("HEAD", "/rpc/set_of_int", ""); got.String() != "200 " || got.header.Get("Content-Range") != "0-2/*" {
		t.Errorf("HEAD: %s %v", got, got.header)
	}
	s.want(s.send("GET", "/rpc/where_am_i", "", "Accept-Profile", "other"), `200 "{other,extensions}"`)
	s.wantCode(s.post("where_am_i", ``), 404, "PGRST202")
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.wantCode(s.post("rows_of?select=id", `{}`), 400, "PGRST100")
	s.wantCode(s.send("GET", "/rpc/rows_of?order=id", ""), 400, "PGRST100")
	s.wantCode(s.post("add_up", `a=1`, "Content-Type", "application/x-www-form-urlencoded"), 400, "PGRST102")
	s.wantCode(s.post("add_up", `{"a": 1}`, "Accept", "text/csv"), 406, "PGRST107")
	s.wantCode(s.post("add_up", `{"a": 1} x`), 400, "PGRST102")
	s.wantCode(s.post("add_up", `{"a": tru}`), 400, "PGRST102")
	s.wantCode(s.post("no_such", `{"a": tru}`), 400, "PGRST102")
	s.wantCode(s.post("add_up", `[1]`), 400, "PGRST102")
	s.wantCode(s.post("add_up", "{\"a\": \"\xff\"}"), 400, "PGRST102")
	s.wantCode(s.send("GET", "/", ""), 404, "PGRST126")
	s.wantCode(s.send("GET", "/rpc/a/b", ""), 404, "PGRST125")
	s.wantCode(s.post("add_up/", `{"a": 1}`), 404, "PGRST125")
	s.wantCode(s.send("GET", "//rpc/add_up?a=1", ""), 404, "PGRST125")
	for _, lone := range []string{`\ud800`, `\udc00`, `\ud800x`, `\uD800\ud800`} {
		s.wantCode(s.post("joined", `{"words": ["`+lone+`"]}`), 400, "PGRST102")
	}
	s.want(s.post("joined", `{"words": ["\ud83d\ude00", "\\ud800"]}`), `200 "😀+\\ud800"`)
	s.wantCode(s.post("%00", ``), 404, "PGRST202")
	long := strings.Repeat("n", 63)
	execute(t, s.db, `create function golden.`+long+`() returns int language sql as 'select 1'`)
	s.want(s.post(long, ``), "200 1")
	s.wantCode(s.post(long+"n", ``), 404, "PGRST202")
	s.wantCode(s.send("DELETE", "/rpc/add_up", ``), 405, "PGRST101")
}

// As with PostgREST's db-max-rows, a set is cut whatever the function does.
func TestMaxRows(t *testing.T) {
	t.Parallel()
	s := serve(t)
	served := map[string]int64{}
	g := s.gateway(gateway.Config{MaxRows: 3, Served: func(function string, rows int64) { served[function] = rows }})
	for _, c := range []struct{ function, body, want, content string }{
		{"numbers", `{"n": 0}`, `200 []`, "*/*"},
		{"numbers", `{"n": 3}`, `200 [1, 2, 3]`, "0-2/*"},
		{"numbers", `{"n": 4}`, `200 [1, 2, 3]`, "0-2/*"},
		{"add_up", `{"a": 1}`, `200 11`, "0-0/*"},
		{"count_up", `{"n": 5}`, "200 [{\"call\":1}, \n {\"call\":2}, \n {\"call\":3}]", "0-2/*"},
		{"count_up", `{"n": 1}`, `200 [{"call":6}]`, "0-0/*"}, // all effects of the call before happened
	} {
		got := s.serve(t.Context(), g, c.function, c.body)
		s.want(got, c.want)
		if content := got.header.Get("Content-Range"); content != c.content {
			t.Errorf("%s %s: range %q, want %q", c.function, c.body, content, c.content)
		}
	}
	if want := map[string]int64{"numbers": 4, "count_up": 1, "add_up": 1}; !maps.Equal(served, want) {
		t.Errorf("reported %v, want %v", served, want)
	}
	if got := s.serve(t.Context(), s.gateway(gateway.Config{}), "numbers", `{"n": 1001}`).header.Get("Content-Range"); got != "0-999/*" {
		t.Errorf("by default the range is %q", got)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s := serve(t)
	got := s.send("POST", "/rest/v1/rpc/settings", `{}`)
	var settings map[string]string
	if err := json.Unmarshal([]byte(got.body), &settings); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	for name, want := range map[string]string{
		"request.method": "POST", "request.path": "/rpc/settings",
		"search_path": `"golden", "extensions"`, "transaction_read_only": "on",
	} {
		if settings[name] != want {
			t.Errorf("%s is %q, want %q", name, settings[name], want)
		}
	}
	s.wantCode(s.post("writing_stable", ``), 405, "25006")
}

// One connection serves all requests: settings must not leak from one to the next.
func TestCallersDoNotMix(t *testing.T) {
	t.Parallel()
	s := serve(t)
	want := map[string]string{
		"service_role": `"usr":"service_role"`, "none": `"usr":"anon"`, "user1": `11111111-1111-1111-1111-111111111111`, "user2": `22222222-2222-2222-2222-222222222222`,
	}
	var all sync.WaitGroup
	for as, part := range want {
		for range 3 {
			all.Go(func() {
				for range 20 {
					header := ""
					if token := tokenOf(t, as, s.secret); token != "" {
						header = "Bearer " + token
					}
					if got := s.post("who", `{}`, "Authorization", header); !strings.Contains(got.body, part) {
						t.Errorf("%s was answered %s", as, got)
					}
				}
			})
		}
	}
	all.Wait()
}

func TestTransactionEnds(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.wantCode(s.post("fail_late", `{}`), 409, "23505") // fails at commit
	single := []string{"Accept", "application/vnd.pgrst.object+json"}
	s.wantCode(s.post("add_two", `{}`, single...), 406, "PGRST116")
	s.want(s.post("ids", `{}`), `200 []`)
	s.want(s.post("add_one", `{}`, single...), `200 {"id":9}`)
	s.want(s.post("add_two", `{}`), "200 [{\"id\":7}, \n {\"id\":8}]")
	s.wantCode(s.post("add_one", `{}`, single...), 409, "23505") // fails at commit too
	s.want(s.post("ids", `{}`), `200 [7, 8, 9]`)
}

func TestStatusOfRaised(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for code, status := range map[string]int{
		"PT418": 418, "PT099": 500, "PT999": 500, "08006": 503, "53400": 500, "28000": 403, "42P17": 500, "P0002": 500,
		"21000": 500, "40P01": 500, "57P01": 503, "XX000": 500, "23514": 400, "23503": 409, "0P000": 403, "PGRST": 400,
	} {
		s.wantCode(s.post("raise_code", `{"code": "`+code+`"}`), status, code)
	}
	if got := s.post("raise_code", `{"code": "PT204"}`); got.status != 204 {
		t.Errorf("PT204 gave %s", got)
	}
}
