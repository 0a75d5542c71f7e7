package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/identity"
	"tasklens/internal/memo"
	"tasklens/server/mcp"
)

const (
	mcpPath      = "/mcp"
	resourcePath = "/.well-known/oauth-protected-resource"
)

// callForTool runs an operation for a tool and returns its response as JSON. Tools only read.
func (a *API) callForTool(ctx context.Context, who *caller, operation string, arguments []byte) ([]byte, error) {
	at := slices.IndexFunc(a.operations, func(r route) bool { return r.id == operation && r.call != nil && r.needs == signedIn })
	if at < 0 {
		return nil, fmt.Errorf("no operation %q for tools", operation)
	}
	response, err := a.operations[at].call(ctx, who, arguments)
	if err != nil {
		p := a.describe(ctx, err)
		return nil, &mcp.Problem{Status: p.Status, Code: p.Code, Detail: p.Detail, RequestID: p.RequestID, Fields: p.Errors, RetryAfter: p.retryAfter}
	}
	if made, is := response.(memo.Made); is {
		return made.Body, nil
	}
	return json.Marshal(response)
}

// rpcMessage, rpcResponse and rpcError are those of JSON-RPC 2.0, as far as the document goes.
type rpcMessage struct {
	_ struct{} `open:"" doc:"A JSON-RPC 2.0 message." example:"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"search_tickets\", \"arguments\": {\"query\": \"charged twice is:open\", \"limit\": 3}}}"`

	Version string `json:"jsonrpc" enum:"2.0"`
	Method  string `json:"method"`
}

type rpcResponse struct {
	_ struct{} `open:"" doc:"A JSON-RPC 2.0 response." example:"{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"Nothing was found.\"}], \"structuredContent\": {\"results\": [], \"next_page\": null}}}"`
}

type rpcError struct {
	_ struct{} `open:"" doc:"A JSON-RPC 2.0 error." example:"{\"jsonrpc\": \"2.0\", \"id\": 1, \"error\": {\"code\": -32601, \"message\": \"method not found: \\\"prompts/call\\\"\"}}"`
}

// serveMCP handles /mcp. The SDK speaks net/http; messages and responses are small and not
// streamed.
func (a *API) serveMCP(c *fiber.Ctx, who *caller) error {
	var in input
	if in.onlyParameters(c); len(in.fields) > 0 {
		return in.err()
	}
	body, err := readObject(c, false) // no batch: each of its calls would have to be counted
	if err != nil {
		return err
	}
	var message rpcMessage
	if json.Unmarshal(body, &message) != nil || message.Method == "" { // the SDK would take it as a response, and accept it
		return fault.InvalidFields(fault.Field{Name: "method", Message: "is required"})
	}
	// The database, which most messages do not reach, says whether it serves this caller: with
	// AUTH=off anyone with a token, with AUTH=on who is neither a user nor the service.
	if who.isUser() && who.Role != identity.RoleUser {
		if _, err := who.role(c.UserContext()); err != nil {
			return err
		}
	}
	ctx := c.UserContext()
	tools := mcp.API{
		Address: a.address(c),
		Call: func(operation string, arguments []byte) ([]byte, error) {
			return a.callForTool(ctx, who, operation, arguments)
		},
		Failed: func(tool string, err error) { a.Log.ErrorContext(ctx, "a tool failed", "tool", tool, "error", err) },
	}
	// At the deadline the SDK would send nothing. The operations keep it, and say so.
	request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), c.Method(), mcpPath, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = c.GetReqHeaders()
	request.Header.Del(fiber.HeaderAuthorization)
	// Responses are always JSON; the SDK would reject clients that do not accept both types.
	request.Header.Set(fiber.HeaderAccept, fiber.MIMEApplicationJSON+", "+mimeEvents)
	response := &wholeResponse{header: http.Header{}, status: http.StatusOK}
	a.tools.Serve(tools, response, request)
	if response.status >= http.StatusBadRequest && !strings.HasPrefix(response.header.Get(fiber.HeaderContentType), fiber.MIMEApplicationJSON) {
		return refusedByProtocol(response)
	}
	if kind := response.header.Get(fiber.HeaderContentType); kind != "" {
		c.Set(fiber.HeaderContentType, kind)
	}
	return c.Status(response.status).Send(response.Bytes())
}

// refusedByProtocol turns the SDK's plain text errors into problems.
func refusedByProtocol(response *wholeResponse) error {
	switch response.status {
	case http.StatusBadRequest:
		return fault.New(fault.Invalid, strings.TrimSpace(response.String()))
	case http.StatusInternalServerError:
		return fault.New(fault.Internal, "The service failed.")
	default:
		return fiber.NewError(response.status)
	}
}

// wholeResponse buffers a response.
type wholeResponse struct {
	bytes.Buffer
	header http.Header
	status int
}

func (w *wholeResponse) Header() http.Header { return w.header }

func (w *wholeResponse) WriteHeader(status int) { w.status = status }

// saneHost is a host that may appear in our addresses.
var saneHost = regexp.MustCompile(`^[A-Za-z0-9._:\[\]-]{1,255}$`)

// address is where clients reach the service: PUBLIC_URL, or the host they used.
func (a *API) address(c *fiber.Ctx) string {
	if host := string(c.Request().Host()); a.PublicURL == "" && saneHost.MatchString(host) {
		return "http://" + host
	}
	return a.PublicURL
}

// challenge is the WWW-Authenticate header of a 401. For /mcp it names the resource metadata, where
// clients find the authorization server (RFC 9728).
func (a *API) challenge(c *fiber.Ctx) string {
	if a.Verifier == nil || c.Path() != mcpPath {
		return "Bearer"
	}
	challenge := `Bearer resource_metadata="` + a.address(c) + resourcePath + mcpPath + `"`
	if c.Get(fiber.HeaderAuthorization) != "" {
		challenge += `, error="invalid_token"`
	}
	return challenge
}

type resourceMetadata struct {
	Servers  []string `json:"authorization_servers" format:"uri" example:"[\"https://example.supabase.co/auth/v1\"]" doc:"Supabase Auth."`
	Methods  []string `json:"bearer_methods_supported" enum:"header" example:"[\"header\"]"`
	Resource string   `json:"resource" format:"uri" example:"https://search.example.com/mcp" doc:"The address of ~/mcp~."`
	Name     string   `json:"resource_name" example:"tasklens"`
}

// resource returns the metadata of /mcp as a protected resource.
func (a *API) resource(c *fiber.Ctx, _ *caller) error {
	if a.Verifier == nil {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderCacheControl, "no-store") // it has the name that was asked for
	return c.JSON(resourceMetadata{
		Resource: a.address(c) + mcpPath, Name: "tasklens", Servers: []string{a.Issuer}, Methods: []string{"header"},
	})
}
