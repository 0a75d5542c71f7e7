package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// bridge is the verb mcp, started as an editor starts it.
func bridge(settings ...string) *exec.Cmd {
	command := exec.Command(os.Args[0], "mcp")
	command.Env = append([]string{programVariable + "=1", "PATH=" + os.Getenv("PATH")}, settings...)
	return command
}

// The SDK's client starts the verb and uses the tools of a running service.
func TestToolsOverStdio(t *testing.T) {
	t.Parallel()
	db, settings := startStack(t)
	if _, err := db.Exec(t.Context(), "insert into public.projects (key, name) values ('TX', 'Checkout')"); err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, settings)
	command := bridge("TASKLENS_URL=" + p.url + "/")
	session, err := sdk.NewClient(&sdk.Implementation{Name: "editor", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil || len(listed.Tools) != 8 {
		t.Fatalf("tools are %v (%v)", listed, err)
	}
	for range 20 {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_projects"})
		if err != nil || result.IsError {
			t.Fatalf("%+v (%v)", result, err)
		}
		if text, _ := json.Marshal(result.StructuredContent); !strings.Contains(string(text), "Checkout") {
			t.Errorf("the projects are %s", text)
		}
	}
	if err := session.Close(); err != nil || !command.ProcessState.Success() {
		t.Errorf("the process ended with %v (%v)", command.ProcessState, err)
	}
}

// If the service refuses a request or is down, the client gets an error for each request, and
// nothing but messages goes to standard output.
func TestStdioTellsFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"a problem": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(429)
			_, _ = w.Write([]byte(`{"detail":"Too many requests."}`))
		}, "429 Too Many Requests: Too many requests. Retry after 7 seconds."},
		"another server": {func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }, "404 Not Found"},
		"not JSON":       {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "check TASKLENS_URL"},
		"another address": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "302 Found"},
		"a JSON-RPC error": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			_, _ = w.Write([]byte("{\"jsonrpc\":\"2.0\",\n\"id\":1,\"error\":{\"code\":-32022,\"message\":\"another version\"}}"))
		}, "another version"},
		"no service": {nil, "the service does not answer"},
	} {
		address := "http://127.0.0.1:1"
		if c.handler != nil {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			address = server.URL
		}
		command := bridge("TASKLENS_URL="+address, "TASKLENS_TOKEN=secret")
		command.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
		var errors bytes.Buffer
		command.Stderr = &errors
		output, err := command.Output()
		var message struct {
			ID    int
			Error struct{ Message string }
		}
		lines := strings.Split(strings.TrimSpace(string(output)), "\n")
		if err != nil || json.Unmarshal([]byte(lines[0]), &message) != nil || message.ID != 1 || !strings.Contains(message.Error.Message, c.want) || strings.Contains(string(output)+errors.String(), "secret") {
			t.Errorf("%s: %q (%v %s)", name, output, err, &errors)
		}
	}
	command := bridge("TASKLENS_URL=nonsense")
	if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), "TASKLENS_URL must be") {
		t.Errorf("with an invalid TASKLENS_URL: %q (%v)", output, err)
	}
}

// Each message is sent with the token and the protocol version.
func TestStdioHeaders(t *testing.T) {
	t.Parallel()
	var seen []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header)
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`))
	}))
	defer server.Close()
	for _, messages := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	} {
		command := bridge("TASKLENS_URL="+server.URL, "TASKLENS_TOKEN=abc")
		command.Stdin = strings.NewReader(messages)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	for i, want := range []map[string]string{{"Mcp-Protocol-Version": ""}, {"Mcp-Protocol-Version": "2025-06-18"}, {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search"}} {
		want["Authorization"] = "Bearer abc"
		for name, value := range want {
			if got := seen[i].Get(name); got != value {
				t.Errorf("message %d: %s is %q, want %q", i, name, got, value)
			}
		}
	}
}
