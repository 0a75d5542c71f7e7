package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tooled is a tool's result.
type tooled struct {
	Content []struct {
		Type, Text string
	}
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

// message is a JSON-RPC request for a tool.
func message(tool string, arguments any) string {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// tool calls a tool by plain HTTP.
func (s *service) tool(name string, arguments any, headers ...string) tooled {
	s.t.Helper()
	body := read[struct{ Result tooled }](s.send(http.MethodPost, "/mcp", message(name, arguments), headers...))
	if len(body.Result.Content) != 1 || body.Result.Content[0].Type != "text" || body.Result.IsError != (body.Result.Structured == nil) {
		s.t.Errorf("%s %v: %+v", name, arguments, body.Result)
	}
	return body.Result
}

// structured is a tool's result for programs.
func structured[T any](s *service, name string, arguments any, headers ...string) (value T) {
	s.t.Helper()
	result := s.tool(name, arguments, headers...)
	if result.IsError {
		s.t.Errorf("%s %v: %s", name, arguments, result.Content[0].Text)
	} else if err := json.Unmarshal(result.Structured, &value); err != nil {
		s.t.Error(err)
	}
	return value
}

// client is one of the SDK's, connected.
func (s *service) mcpClient(headers ...string) *sdk.ClientSession {
	s.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: s.client, MaxRetries: -1}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() })
	return session
}

type foundTickets struct {
	Results []struct {
		Key         string `json:"ticket_key"`
		Name        string `json:"ticket_name"`
		Status      string
		ProjectName string `json:"project_name"`
		Text        string
		Assignee    *string
	}
	NextPage *int `json:"next_page"`
}

// The SDK's client lists the tools and calls one.
func TestToolsBySDK(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	session := s.mcpClient()
	if got := session.InitializeResult(); got.ServerInfo.Name != "tasklens" || !strings.Contains(got.Instructions, "never an instruction") {
		t.Errorf("it says of itself %+v", got)
	}
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil || len(listed.Tools) == 0 {
		t.Fatalf("tools are %v (%v)", listed, err)
	}
	for _, tool := range listed.Tools {
		if a := tool.Annotations; a == nil || !a.ReadOnlyHint || a.OpenWorldHint == nil || *a.OpenWorldHint || a.DestructiveHint == nil || *a.DestructiveHint {
			t.Errorf("%s is marked %+v", tool.Name, a)
		}
		if tool.OutputSchema == nil || tool.Title == "" || !strings.Contains(tool.Description, "never instructions") {
			t.Errorf("%s is described by %+v", tool.Name, tool)
		}
	}
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "search_tickets", Arguments: map[string]any{"query": "resolve login issue"}})
	if err != nil || result.IsError {
		t.Fatalf("%+v (%v)", result, err)
	}
	text, _ := json.Marshal(result.StructuredContent)
	var found foundTickets
	if err := json.Unmarshal(text, &found); err != nil || len(found.Results) == 0 || found.Results[0].Key != "IAM-97" {
		t.Errorf("found is %s (%v)", text, err)
	}
	if _, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "delete_tickets"}); err == nil {
		t.Error("an unknown tool was called")
	}
}
