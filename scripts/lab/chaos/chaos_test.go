package chaos

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tasklens/scripts/lab/web"
)

// Forbidden outcomes are reported, allowed ones are not.
func TestWhatMayComeOut(t *testing.T) {
	t.Parallel()
	problem := `{"status":503,"request_id":"1"}`
	for name, c := range map[string]struct {
		status int
		media  string
		body   string
		id     string
		right  bool
	}{
		"JSON":                  {200, "application/json", `{}`, "1", true},
		"no JSON":               {200, "application/json", `{`, "1", false},
		"no id":                 {200, "application/json", `{}`, "", false},
		"a problem":             {503, "application/problem+json", problem, "1", true},
		"another status":        {502, "application/problem+json", problem, "1", false},
		"of another kind":       {503, "text/html", problem, "1", false},
		"an internal error":     {500, "application/problem+json", `{"status":500,"request_id":"1"}`, "1", false},
		"a limit without word":  {429, "application/problem+json", `{"status":429,"request_id":"1"}`, "1", false},
		"a whole stream":        {200, "text/event-stream", "event: delta\n\nevent: done\n\n", "1", true},
		"a failed stream":       {200, "text/event-stream", "event: delta\n\nevent: error\n\n", "1", true},
		"half a stream":         {200, "text/event-stream", "event: delta\n\n", "1", false},
		"a stream that goes on": {200, "text/event-stream", "event: done\n\nevent: delta\n\n", "1", false},
	} {
		response := &http.Response{StatusCode: c.status, Header: http.Header{"Content-Type": {c.media}, "X-Request-Id": {c.id}}}
		if wrong := check(response, []byte(c.body)); (wrong == "") != c.right {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}

// Every failure mode is one that a client notices.
func TestTheModelFails(t *testing.T) {
	t.Parallel()
	const well = `{"data":[{"embedding":[1,2]}],"choices":[{"index":0}]}`
	for mode := range modes {
		if mode == "silent" { // there is nothing to read
			continue
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			model := NewModel(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(strings.Replace(well, "1,2", strings.Repeat("1,", 200)+"2", 1)))
			}))
			if err := model.Fail(mode); err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(model)
			defer server.Close()
			var said struct {
				Data    []struct{ Embedding []float64 }
				Choices []any
			}
			err := web.Call(t.Context(), http.MethodPost, server.URL, map[string]any{}, &said)
			whole := err == nil && len(said.Data) == 1 && len(said.Data[0].Embedding) == 201 && len(said.Choices) == 1
			if whole != (mode == "well") {
				t.Errorf("said is %+v, %v", said, err)
			}
		})
	}
	if NewModel(nil).Fail("otherwise") == nil {
		t.Error("an unknown way is taken")
	}
}
