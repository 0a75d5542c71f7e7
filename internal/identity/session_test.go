package identity

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/fault"
)

// signedIn is Auth's response for a signed-in user.
const signedIn = `{"id":"` + user + `","aud":"authenticated","role":"authenticated","email":"somebody@example.com","phone":"",
	"app_metadata":{"provider":"email"},"user_metadata":{},"identities":[],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","is_anonymous":false}`

// Auth's response decides. A response from anything else, or none, does not.
func TestSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		code   fault.Code
	}{
		"signed in":           {http.StatusOK, signedIn, ""},
		"banned, older Auth":  {http.StatusOK, strings.Replace(signedIn, "{", `{"banned_until":"2999-01-01T00:00:00Z",`, 1), fault.Unauthorized},
		"banned in the past":  {http.StatusOK, strings.Replace(signedIn, "{", `{"banned_until":"2026-01-01T00:00:00.5Z",`, 1), ""},
		"another's session":   {http.StatusOK, strings.Replace(signedIn, "0b6a", "0b6b", 1), fault.Unauthorized},
		"signed out":          {http.StatusForbidden, `{"code":403,"error_code":"session_not_found","msg":"Session from session_id claim in JWT does not exist"}`, fault.Unauthorized},
		"banned":              {http.StatusForbidden, `{"code":403,"error_code":"user_banned","msg":"User is banned"}`, fault.Unauthorized},
		"deleted, older Auth": {http.StatusNotFound, `{"code":404,"msg":"User from sub claim in JWT does not exist"}`, fault.Unauthorized},
		"key refused":         {http.StatusUnauthorized, `{"message":"Invalid API key"}`, fault.Unavailable},
		"limited":             {http.StatusTooManyRequests, `{"code":429,"error_code":"over_request_rate_limit","msg":"Request rate limit reached"}`, fault.Unavailable},
		"failing":             {http.StatusInternalServerError, `{"code":500,"error_code":"unexpected_failure","msg":"Unexpected failure"}`, fault.Unavailable},
		"a proxy's page":      {http.StatusForbidden, `<html>`, fault.Unavailable},
		"no user":             {http.StatusOK, `<html>`, fault.Unavailable},
		"elsewhere":           {http.StatusFound, ``, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.answers(c.status, c.body)
			v := p.verifier(p.strict)
			token := p.ec(nil)
			expect(t, v, token, c.code)
			expect(t, v, token, c.code)
			want := 1 // Auth's response is cached
			if c.code == fault.Unavailable {
				want = 2
			}
			if p.questions() != want {
				t.Errorf("Auth was asked %d times, want %d", p.questions(), want)
			}
			if got := p.asked[0].Header; got.Get("Authorization") != "Bearer "+token || got.Get("Apikey") != p.options().ServiceKey {
				t.Errorf("it was asked with %v", got)
			}
		})
	}
}

// An invalid token is rejected without asking Auth.
func TestAuthIsNotCalledForInvalidTokens(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier(p.strict)
	expect(t, v, p.ec(map[string]any{"aud": "another"}), fault.Unauthorized)
	expect(t, v, p.hs(map[string]any{"role": "service_role"}), "")
	if p.questions() != 0 {
		t.Errorf("Auth was asked %d times", p.questions())
	}
}

// Concurrent session checks are not mixed up.
func TestSessionsDoNotCross(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier(p.strict)
	tokens := map[string]string{} // each token's user
	for i := range 64 {
		subject := fmt.Sprintf("0b6a3c0e-5f0b-4a51-9d0f-%012d", i)
		tokens[p.ec(map[string]any{"sub": subject})] = subject
	}
	p.user = func(w http.ResponseWriter, r *http.Request) {
		subject := tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		_, _ = fmt.Fprint(w, strings.Replace(signedIn, user, subject, 1))
	}
	var running sync.WaitGroup
	for token, subject := range tokens {
		for range 3 {
			running.Go(func() {
				if caller := expect(t, v, token, ""); caller.Subject != subject {
					t.Errorf("%s is taken for %s", subject, caller.Subject)
				}
			})
		}
	}
	running.Wait()
}

// A signed-out user is rejected once Auth's response is no longer cached.
func TestSignedOutUsersAreRejected(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.answers(http.StatusOK, signedIn)
	v := p.verifier(p.strict)
	token := p.ec(nil)
	expect(t, v, token, "")
	p.answers(http.StatusForbidden, `{"code":403,"error_code":"session_not_found","msg":"gone"}`)
	expect(t, v, token, "")
	v.sessions.answers.SetExpiresAfter(Digest(token), time.Nanosecond)
	time.Sleep(time.Millisecond)
	expect(t, v, token, fault.Unauthorized)
}
