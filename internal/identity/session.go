package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
	supabase "github.com/supabase-community/supabase-go"
	"golang.org/x/sync/singleflight"

	"tasklens/internal/rescue"
)

const (
	sessionAge     = 10 * time.Second // how long Auth's response is cached
	sessionTimeout = 3 * time.Second  // of one request
	sessionsKept   = 10_000
	sessionBytes   = 1 << 20 // of a response
)

// sessions asks Supabase Auth whether a token's session still exists: after a sign-out the token
// itself stays valid until it expires.
type sessions struct {
	url, key  string
	transport http.RoundTripper
	answers   *otter.Cache[string, bool] // by the token's digest
	asking    singleflight.Group
}

func newSessions(url, key string, transport http.RoundTripper) *sessions {
	return &sessions{
		url: strings.TrimRight(url, "/"), key: key, transport: transport,
		answers: otter.Must(&otter.Options[string, bool]{MaximumSize: sessionsKept, ExpiryCalculator: otter.ExpiryWriting[string, bool](sessionAge)}),
	}
}

// alive reports whether Auth knows the token's session and it belongs to this user.
func (s *sessions) alive(ctx context.Context, token, subject string) (bool, error) {
	key := digest(token)
	if answer, known := s.answers.GetIfPresent(key); known {
		return answer, nil
	}
	asked := s.asking.DoChan(key, func() (any, error) {
		var answer bool
		err := rescue.Do(func() (err error) {
			answer, err = s.ask(token, subject)
			return err
		})
		if err == nil {
			s.answers.Set(key, answer)
		}
		return answer, err
	})
	select {
	case result := <-asked:
		return result.Err == nil && result.Val.(bool), result.Err
	case <-ctx.Done():
		return false, fmt.Errorf("wait for Auth: %w", context.Cause(ctx))
	}
}

// ask uses a client created for this call, because a shared client would share its token.
func (s *sessions) ask(token, subject string) (bool, error) {
	client, err := supabase.NewClient(s.url, s.key, nil)
	if err != nil {
		return false, fmt.Errorf("make a client for Auth: %w", err)
	}
	exchange := &exchange{transport: s.transport}
	user, err := client.Auth.WithToken(token).WithClient(http.Client{Transport: exchange, Timeout: sessionTimeout, CheckRedirect: noRedirect}).GetUser()
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("ask Auth for the user: %w", err)
	}
	return strings.EqualFold(user.ID.String(), subject), nil
}

// exchange is one request. It bounds the response and tells a rejection by Auth from other
// failures.
type exchange struct{ transport http.RoundTripper }

// refusal is Auth's statement that a token is not, or no longer, valid.
type refusal struct{ code string }

func (r *refusal) Error() string { return "Auth refuses the token: " + r.code }

func (e *exchange) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := e.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, sessionBytes)
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	var told struct {
		Code string `json:"error_code"`
		Text string `json:"msg"`
	}
	// A gateway in front of Auth responds alike if it does not know our API key, but its message
	// has another field name.
	own := json.Unmarshal(text, &told) == nil && (told.Code != "" || told.Text != "")
	if own && (response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden || response.StatusCode == http.StatusNotFound) {
		return nil, &refusal{told.Code}
	}
	return nil, fmt.Errorf("it answered %s", response.Status)
}
