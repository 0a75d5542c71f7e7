// Package postgrest calls Postgres functions through PostgREST, Supabase's HTTP interface to the
// database. It owns the connection pool, the identity of each call and the meaning of error
// responses. It knows no function by name.
package postgrest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	upstream "github.com/supabase-community/postgrest-go"
)

// maxResponseBytes bounds the response that is read.
const maxResponseBytes = 64 << 20

// callTimeout bounds a call with its response. No function may take longer than 60 s.
const callTimeout = 90 * time.Second

// A call is repeated whose transaction the database undid for the sake of another: PostgREST 14
// does so by itself, 16 reports it. The pause grows with the tries.
const (
	maxTries    = 4
	undonePause = 50 * time.Millisecond
)

// readAnyway is how much of a body PostgREST reads although it refused the request, in bytes. If
// there is more, it resets the connection some time after its response.
const readAnyway = 8 << 10

// Client holds what calls share: the address, the service key and one connection pool. It is safe
// for concurrent use and holds no caller's identity.
type Client struct {
	url       string
	key       string
	schema    string
	transport http.RoundTripper
}

// New returns a client for a PostgREST (SUPABASE_URL/rest/v1 in a Supabase project) with the
// project's service_role or secret key. Functions are called in schema. Each function in around
// wraps the transport, in order.
func New(restURL, serviceKey, schema string, around ...func(http.RoundTripper) http.RoundTripper) *Client {
	c := &Client{
		url:    strings.TrimRight(restURL, "/") + "/",
		key:    serviceKey,
		schema: schema,
		transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        64,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     90 * time.Second,
			TLSHandshakeTimeout: 5 * time.Second,
		},
	}
	for _, wrap := range around {
		c.transport = wrap(c.transport)
	}
	return c
}

// AsService returns the database with the service's own rights.
func (c *Client) AsService() *Session { return &Session{client: c, token: c.key, service: true} }

// AsUser returns the database with the rights of the user who holds this Supabase access token.
func (c *Client) AsUser(token string) *Session { return &Session{client: c, token: token} }

// Session is the database under one identity. It costs nothing to create: use one per request.
type Session struct {
	client  *Client
	token   string
	service bool
}

// Call runs a Postgres function with named arguments and decodes its result, an array of rows for a
// function that returns a table. function must be a constant: it is not escaped. Errors are
// *fault.Error; they wrap an *Error if PostgREST responded.
func (s *Session) Call(ctx context.Context, function string, arguments, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for try := 1; ; try++ {
		body, err := s.call(ctx, function, arguments)
		var answer *Error
		if try < maxTries && errors.As(err, &answer) && answer.isUndone() {
			select {
			case <-time.After(time.Duration(try) * undonePause):
			case <-ctx.Done():
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("call %s: %w", function, s.failure(ctx, function, err))
		}
		if result == nil {
			return nil
		}
		if err := json.Unmarshal([]byte(body), result); err != nil {
			return fmt.Errorf("call %s: decode the result: %w", function, err)
		}
		return nil
	}
}

// call makes one request. Without a function it shows only whether the token is accepted.
func (s *Session) call(ctx context.Context, function string, arguments any) (body string, err error) {
	// The library's client stores headers for all its users. One client per call keeps tokens
	// apart.
	exchange := &exchange{ctx: ctx, transport: s.client.transport, body: http.NoBody}
	client, err := upstream.NewClientWithError(s.client.url, s.client.schema, map[string]string{
		"apikey":        s.client.key,
		"Authorization": "Bearer " + s.token,
	})
	if err != nil {
		return "", fmt.Errorf("make a client: %w", err)
	}
	client.Transport.Parent = exchange
	defer func() { _ = exchange.body.Close() }() // the library does not close one that it could not read completely
	body, err = client.RpcWithError(function, "", arguments)
	if lost, answered := errors.AsType[*Error](err); err != nil && !(answered && lost.Code != "") && !s.service && function != "" {
		// PostgREST rejects a token without reading a long body, and its reset can overtake the answer.
		// A proxy makes a 502 of it.
		_, asked := s.call(ctx, "", nil)
		if answer, is := errors.AsType[*Error](asked); is && answer.Status == http.StatusUnauthorized {
			err = answer
		}
	}
	return body, err
}

// exchange is one request. It adds the context and the status check that the library lacks.
type exchange struct {
	ctx       context.Context
	transport http.RoundTripper
	body      io.Closer // of the answer
}

func (e *exchange) RoundTrip(request *http.Request) (*http.Response, error) {
	var on httptrace.GotConnInfo
	request = request.WithContext(httptrace.WithClientTrace(e.ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { on = got }}))
	response, err := e.transport.RoundTrip(request)
	for isUnsent(err) && on.Reused { // net/http repeats it only if the body is short
		if request.Body, err = request.GetBody(); err == nil {
			response, err = e.transport.RoundTrip(request)
		}
	}
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 && response.ProtoMajor == 1 && request.ContentLength > readAnyway {
		retire(on.Conn)
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxResponseBytes)
	e.body = response.Body
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	// A redirect is an error: following it would send the keys to another host.
	return nil, readError(response)
}

var _ http.RoundTripper = (*exchange)(nil)

// isUnsent reports whether a request could not be written whole, so that no server has run it.
func isUnsent(err error) bool {
	failed, is := errors.AsType[*net.OpError](err)
	return is && failed.Op == "write"
}

// retire closes a connection for writing: the next request would be lost with it unsuspected.
func retire(connection net.Conn) {
	if secure, is := connection.(*tls.Conn); is {
		connection = secure.NetConn()
	}
	if plain, is := connection.(*net.TCPConn); is {
		_ = plain.CloseWrite()
	}
}
