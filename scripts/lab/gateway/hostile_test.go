package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tasklens/scripts/lab/gateway"
)

// sqlstate matches Postgres's codes. PostgREST's own are longer.
var sqlstate = regexp.MustCompile(`^[0-9A-Z]{5}$`)

// TestHostileRequests: for any input the gateway responds in JSON, and with a 5xx only if Postgres
// raised such an error.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	s := serve(t)
	g := s.gateway(gateway.Config{AnonRole: "anon"})
	tokens := []string{"", "Bearer " + tokenOf(t, "service_role", s.secret), "Bearer " + tokenOf(t, "user1", s.secret), "Bearer " + tokenOf(t, "badsig", s.secret)}
	rapid.Check(t, func(t *rapid.T) {
		request := hostile(t)
		request.Header.Set("Authorization", rapid.OneOf(rapid.SampledFrom(tokens), rapid.String()).Draw(t, "authorization"))
		recorder := httptest.NewRecorder()
		g.ServeHTTP(recorder, request.WithContext(context.Background()))
		body := recorder.Body.Bytes()
		got := reply{recorder.Code, recorder.Header(), string(body)}
		if len(body) > 0 && !json.Valid(body) {
			t.Fatalf("%s: not JSON", got)
		}
		if got.status >= 400 && !strings.HasSuffix(got.header.Get("Proxy-Status"), "error="+got.code()) {
			t.Fatalf("%s: Proxy-Status %q", got, got.header.Get("Proxy-Status"))
		}
		if got.status >= 500 && !sqlstate.MatchString(got.code()) {
			t.Fatalf("%s", got)
		}
	})
	s.want(s.serve(context.Background(), g, "add_up", `{"a": 1}`), "200 11")
}

// callable are functions of the fixtures with their argument names, except those that take a number
// of rows or seconds.
var callable = map[string][]string{
	"add_up": {"a", "b"}, "as_jsonb": {"payload"}, "distance": {"a", "b"}, "echo_vector": {"v"}, "echo_vectors": {"ids", "vs"}, "who": {}, "my_notes": {},
	"add_note": {"owner", "body"}, "raise_code": {"code"}, "whole": {}, "whole_text": {}, "one_of": {"a"}, "either": {"a"}, "joined": {"words"}, "set_of_int": {},
	"one_object": {}, "nothing_returned": {"x"}, "secret": {}, "add_one": {}, "divide": {"x"}, `Odd "name"`: {`an "arg", odd`, "gateway_row", "bits"},
}

// hostile draws valid requests, each corrupted in any number of places, so that they reach every
// part.
func hostile(t *rapid.T) *http.Request {
	spoilt := func(what string) bool { return rapid.IntRange(0, 9).Draw(t, what+" is spoilt") == 9 }
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"[1,2]", "{1,2}", "11111111-1111-1111-1111-111111111111", "1", "0", "23505", "40001", "PT599", "\x00", "\xff"}))
	function := rapid.SampledFrom(slices.Sorted(maps.Keys(callable))).Draw(t, "function")
	arguments, query := map[string]any{}, url.Values{}
	for _, name := range callable[function] {
		if spoilt("argument") {
			name = text.Draw(t, "name")
		}
		arguments[name] = rapid.OneOf(
			rapid.Map(text, func(s string) any { return s }),
			rapid.Map(rapid.Float64(), func(f float64) any { return f }),
			rapid.Map(rapid.Int16(), func(n int16) any { return n }),
			rapid.Map(rapid.SliceOf(rapid.Int16()), func(s []int16) any { return s }),
			rapid.Just[any](nil)).Draw(t, "value")
		query.Add(name, text.Draw(t, "query value"))
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	body := string(encoded)
	if spoilt("body") {
		tail := rapid.SampledFrom([]string{"", `"`, "}", "\\u0000", strings.Repeat("[", 100_000)}).Draw(t, "tail")
		body = rapid.SampledFrom([]string{"[" + body + "," + body + "]", body[:rapid.IntRange(0, len(body)).Draw(t, "cut")] + tail, text.Draw(t, "body"),
			`{"payload": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`}).Draw(t, "spoilt body")
	}
	header := http.Header{}
	for _, name := range []string{"Content-Type", "Accept", "Content-Profile", "Accept-Profile", "Cookie", "Prefer", "X-Any"} {
		if spoilt(name) {
			header.Set(name, rapid.OneOf(text, rapid.SampledFrom([]string{"text/plain", "application/vnd.pgrst.object+json", "golden", "other", "a=b; c=\"d"})).Draw(t, "header"))
		}
	}
	if spoilt("function") {
		function = text.Draw(t, "other function")
	}
	at := &url.URL{Path: rapid.SampledFrom([]string{"/rpc/", "/rest/v1/rpc/"}).Draw(t, "prefix") + function}
	if spoilt("path") {
		at.Path = text.Draw(t, "path")
	}
	method := rapid.SampledFrom([]string{"POST", "POST", "GET", "HEAD"}).Draw(t, "method")
	if spoilt("method") {
		method = text.Draw(t, "other method")
	}
	if method == "GET" || spoilt("query") {
		at.RawQuery = rapid.SampledFrom([]string{query.Encode(), query.Encode(), text.Draw(t, "raw query")}).Draw(t, "query")
	}
	return &http.Request{Method: method, URL: at, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1, Host: "x\xff"}
}
