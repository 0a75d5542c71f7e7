package api

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"tasklens/internal/fault"
	"tasklens/server/mcp"
)

const (
	mcpPath      = "/mcp"
	resourcePath = "/.well-known/oauth-protected-resource"
)

// visit is a request to /mcp while its tools make requests of their own.
type visit struct {
	ctx           context.Context // the SDK's own lacks the deadline
	caller        *known
	authorization string
	id, address   string
}

type visitKey struct{}

// visitOf returns the visit a tool's request belongs to; nil for requests from the network.
func visitOf(c *fiber.Ctx) *visit {
	v, _ := c.Locals(visitKey{}).(*visit)
	return v
}

// newTools connects the tools with the API that they call.
func (a *API) newTools() http.Handler { return mcp.NewHandler(toolCalls{a}, a.Version) }

// serveMCP handles /mcp. The SDK speaks net/http; messages and responses are small and not
// streamed.
func (a *API) serveMCP(c *fiber.Ctx) error {
	if err := a.refusePages(c); err != nil {
		return err
	}
	if err := noParameters(c); err != nil {
		return err
	}
	if err := checkObject(c, c.BodyRaw()); err != nil {
		return err // a batch too: each of its calls would have to be counted
	}
	v := &visit{ctx: c.UserContext(), caller: knownOf(c), authorization: c.Get(fiber.HeaderAuthorization), id: RequestID(c.UserContext()), address: a.address(c)}
	request, err := http.NewRequestWithContext(context.WithValue(v.ctx, visitKey{}, v), c.Method(), mcpPath, bytes.NewReader(c.BodyRaw()))
	if err != nil {
		return err
	}
	for name, value := range c.Request().Header.All() {
		request.Header.Add(string(name), string(value))
	}
	request.Header.Del(fiber.HeaderAuthorization)
	// Responses are always JSON; the SDK would reject clients that do not accept both types.
	request.Header.Set(fiber.HeaderAccept, fiber.MIMEApplicationJSON+", "+mimeEvents)
	response := &wholeResponse{header: http.Header{}, status: http.StatusOK}
	a.tools.ServeHTTP(response, request)
	if response.status >= http.StatusBadRequest && !strings.HasPrefix(response.header.Get(fiber.HeaderContentType), fiber.MIMEApplicationJSON) {
		return refusedByProtocol(response)
	}
	if kind := response.header.Get(fiber.HeaderContentType); kind != "" {
		c.Set(fiber.HeaderContentType, kind)
	}
	return c.Status(response.status).Send(response.body.Bytes())
}

// refusedByProtocol turns the SDK's plain text errors into problems.
func refusedByProtocol(response *wholeResponse) error {
	switch response.status {
	case http.StatusBadRequest:
		return fault.New(fault.Invalid, strings.TrimSpace(response.body.String()))
	case http.StatusInternalServerError:
		return fault.New(fault.Internal, "The service failed.")
	default:
		return fiber.NewError(response.status)
	}
}

// wholeResponse buffers a response.
type wholeResponse struct {
	header http.Header
	status int
	begun  bool
	body   bytes.Buffer
}

func (w *wholeResponse) Header() http.Header { return w.header }

func (w *wholeResponse) WriteHeader(status int) {
	if !w.begun {
		w.status, w.begun = status, true
	}
}

func (w *wholeResponse) Write(text []byte) (int, error) {
	w.begun = true
	return w.body.Write(text)
}

// toolCalls makes API requests for the tools. They are handled like any other, except that their
// visit has already been admitted and counted.
type toolCalls struct{ api *API }

func (t toolCalls) Address(ctx context.Context) string { return ctx.Value(visitKey{}).(*visit).address }

func (t toolCalls) Failed(ctx context.Context, tool string, err error) {
	t.api.Log.ErrorContext(ctx.Value(visitKey{}).(*visit).ctx, "a tool failed", "tool", tool, "error", err)
}

func (t toolCalls) Request(ctx context.Context, method, target string, body []byte) mcp.Response {
	v := ctx.Value(visitKey{}).(*visit)
	request := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(request)
	request.Header.SetMethod(method)
	request.SetRequestURI("http://localhost" + target)
	request.Header.Set(headerRequestID, v.id)
	if v.authorization != "" {
		request.Header.Set(fiber.HeaderAuthorization, v.authorization)
	}
	if len(body) > 0 {
		request.Header.SetContentType(fiber.MIMEApplicationJSON)
		request.SetBody(body)
	}
	var inner fasthttp.RequestCtx
	inner.Init(request, &net.TCPAddr{IP: net.IPv6loopback}, nil)
	inner.SetUserValue(visitKey{}, v)
	t.api.app.Server().Handler(&inner)
	return mcp.Response{
		Status: inner.Response.StatusCode(), RetryAfter: string(inner.Response.Header.Peek(fiber.HeaderRetryAfter)),
		Body: bytes.Clone(inner.Response.Body()),
	}
}

// refusePages rejects pages of origins other than the service's own and those in CORS_ORIGINS.
// Browsers send Origin with every POST of a page.
func (a *API) refusePages(c *fiber.Ctx) error {
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" || a.mayRead(c) || origin == a.PublicURL {
		return nil
	}
	if u, err := url.Parse(origin); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host == string(c.Request().Host()) {
		return nil
	}
	return errOrigin
}

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

// resource returns the metadata of /mcp as a protected resource.
func (a *API) resource(c *fiber.Ctx) error {
	if a.Verifier == nil {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderCacheControl, "no-store") // it has the name that was asked for
	return c.JSON(fiber.Map{
		"resource": a.address(c) + mcpPath, "resource_name": "tasklens", "authorization_servers": []string{a.Issuer},
		"bearer_methods_supported": []string{"header"},
	})
}
