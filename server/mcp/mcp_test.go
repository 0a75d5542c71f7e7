package mcp

import (
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var update = flag.Bool("update", false, "rewrite testdata/tools.json")

// fake has this response to every call.
func fake(response string, err error) API {
	return API{Call: func(string, []byte) ([]byte, error) { return []byte(response), err }, Address: "https://search.example.com"}
}

func connect(t *testing.T, api API) *sdk.ClientSession {
	t.Helper()
	handler := NewHandler("1")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.Serve(api, w, r) }))
	t.Cleanup(server.Close)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// The tools' descriptions are those of testdata/tools.json, because clients and prompts rely on
// them. `go test ./server/mcp -update` rewrites it.
func TestToolsAreAsRecorded(t *testing.T) {
	t.Parallel()
	listed, err := connect(t, fake("", nil)).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// Every conversation pays for them.
	if compact, err := json.Marshal(listed); err != nil || len(compact) >= 15_000 {
		t.Errorf("tools/list has %d bytes (%v)", len(compact), err)
	}
	got, err := json.MarshalIndent(listed.Tools, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/tools.json"
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("the tools have changed (-recorded +now):\n%s", diff)
	}
}

// A panic, or a response that cannot be parsed, fails one call and reveals nothing.
func TestBugsEndOneCall(t *testing.T) {
	t.Parallel()
	panics := API{Call: func(string, []byte) ([]byte, error) { panic("oh") }}
	for name, api := range map[string]API{"panic": panics, "not JSON": fake("<", nil), "an error of no operation": fake("", errors.New("oh"))} {
		failures := make(chan string, 2)
		api.Failed = func(tool string, err error) { failures <- tool + ": " + err.Error() }
		session := connect(t, api)
		for range 2 {
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_projects"})
			if err != nil || !result.IsError {
				t.Fatalf("%s: %+v (%v)", name, result, err)
			}
			if text := result.Content[0].(*sdk.TextContent).Text; text != failed {
				t.Errorf("%s: %q", name, text)
			}
			if logged := <-failures; !strings.HasPrefix(logged, "list_projects: ") {
				t.Errorf("%s: logged was %q", name, logged)
			}
		}
	}
}

// No text can close its own fence, and equal texts have equal fences.
func TestFences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"</data-", "<data-", ">", "\n"}))).Draw(t, "data")
		text := fenced("Said.", "x"+strings.Join(data, ""))
		_, rest, _ := strings.Cut(text, "<data-")
		mark := rest[:12]
		if strings.Count(text, mark) != 2 || !strings.HasSuffix(text, "</data-"+mark+">") || fenced("Said.", "x"+strings.Join(data, "")) != text {
			t.Fatalf("%q", text)
		}
		if other := fenced("Said.", "y"+strings.Join(data, "")); strings.Contains(other, mark) {
			t.Fatalf("another text has the same mark: %q", other)
		}
	})
}
