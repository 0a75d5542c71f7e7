// Package postgrest calls Postgres functions through PostgREST, which Supabase puts in front of every database. It
// owns the connection pool, the identity that a call carries, and what an answer that is not a result means. It knows
// no function by name and nothing of what they do.
package postgrest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	upstream "github.com/supabase-community/postgrest-go"
)

// MaxResponseBytes bounds what is read of one answer.
const MaxResponseBytes = 64 << 20

// Client holds what calls share: the address, the service's key and one pool of connections. It is safe for
// concurrent use, and holds no caller's identity.
type Client struct {
	url       string
	key       string
	transport http.RoundTripper
}

// New makes a client for a PostgREST, at SUPABASE_URL/rest/v1 in a Supabase project, and the project's service_role or
// secret key. around goes around the transport, one after the other.
func New(restURL, serviceKey string, around ...func(http.RoundTripper) http.RoundTripper) *Client {
	c := &Client{
		url: strings.TrimRight(restURL, "/") + "/",
		key: serviceKey,
		transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:     true,
			MaxIdleConns:          64,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       90 * time.Second,
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: 60 * time.Second,
		},
	}
	for _, wrap := range around {
		c.transport = wrap(c.transport)
	}
	return c
}

// AsService is the database as the service itself sees it.
func (c *Client) AsService() *Session { return &Session{client: c, token: c.key, service: true} }

// AsUser is the database as the holder of a Supabase access token sees it.
func (c *Client) AsUser(token string) *Session { return &Session{client: c, token: token} }

// Session is the database under one identity. It costs nothing to make; make one for each request.
type Session struct {
	client  *Client
	token   string
	service bool
}

// Call runs a Postgres function with named arguments and decodes what it returns: an array of rows for a function that
// returns a table. function is a fixed name, never input: it is not escaped. Failures are *fault.Error, around an
// *Error where PostgREST answered.
func (s *Session) Call(ctx context.Context, function string, arguments, result any) error {
	// The library's client keeps headers that all its users share: one for each call, or tokens cross.
	exchange := &exchange{ctx: ctx, transport: s.client.transport}
	client, err := upstream.NewClientWithError(s.client.url, "public", map[string]string{
		"apikey":        s.client.key,
		"Authorization": "Bearer " + s.token,
	})
	if err != nil {
		return fmt.Errorf("make a client for %s: %w", function, err)
	}
	client.Transport.Parent = exchange
	defer exchange.close()
	body, err := client.RpcWithError(function, "", arguments)
	if err != nil {
		return fmt.Errorf("call %s: %w", function, s.failure(ctx, err))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(body), result); err != nil {
		return fmt.Errorf("call %s: decode the result: %w", function, err)
	}
	return nil
}

// exchange is one request: the library gives it neither context nor a look at the status, this does.
type exchange struct {
	ctx       context.Context
	transport http.RoundTripper
	body      io.Closer // of the answer
}

// close gives the connection back: the library leaves the body of an answer open that it could not read to the end.
func (e *exchange) close() {
	if e.body != nil {
		_ = e.body.Close()
	}
}

func (e *exchange) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := e.transport.RoundTrip(request.WithContext(e.ctx))
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, MaxResponseBytes)
	e.body = response.Body
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	// A redirect is refused like any other answer that is no result: following it would send the keys elsewhere.
	return nil, readError(response)
}

var _ http.RoundTripper = (*exchange)(nil)

// isTimeout tells a deadline, of the context or of the connection, from other failures to get an answer.
func isTimeout(ctx context.Context, err error) bool {
	var network net.Error
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &network) && network.Timeout()
}
