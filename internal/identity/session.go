package identity

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
	supabase "github.com/supabase-community/supabase-go"
)

const (
	sessionAge     = 10 * time.Second // how long Auth's response is cached
	sessionTimeout = 3 * time.Second  // of one request
	sessionsKept   = 10_000
)

// ended matches the library's error if Auth says that a session or its user no longer exists. A
// gateway in front of Auth uses other fields.
var ended = regexp.MustCompile(`(?s)^response status code 40[134]: .*"(error_code|msg)"`)

// sessions asks Supabase Auth whether a token's session still exists: after a sign-out the token
// itself stays valid until it expires.
type sessions struct {
	url, key string
	client   http.Client
	answers  *otter.Cache[string, bool] // by the token's digest
}

func newSessions(url, key string, client http.Client) *sessions {
	client.Timeout = sessionTimeout
	return &sessions{
		url: strings.TrimRight(url, "/"), key: key, client: client,
		answers: otter.Must(&otter.Options[string, bool]{MaximumSize: sessionsKept, ExpiryCalculator: otter.ExpiryWriting[string, bool](sessionAge)}),
	}
}

// alive reports whether Auth knows the token's session and it belongs to this user, who is not
// banned.
func (s *sessions) alive(token, subject string) (bool, error) {
	key := Digest(token)
	if alive, known := s.answers.GetIfPresent(key); known {
		return alive, nil
	}
	// A client shared between calls would share its token.
	client, err := supabase.NewClient(s.url, s.key, nil)
	if err != nil {
		return false, fmt.Errorf("make a client for Auth: %w", err)
	}
	user, err := client.Auth.WithToken(token).WithClient(s.client).GetUser()
	if err != nil && !ended.MatchString(err.Error()) {
		return false, fmt.Errorf("ask Auth for the user: %w", err)
	}
	// Auth itself refuses banned users only since July 2026.
	alive := err == nil && strings.EqualFold(user.ID.String(), subject) && (user.BannedUntil == nil || user.BannedUntil.Before(time.Now()))
	s.answers.Set(key, alive)
	return alive, nil
}
