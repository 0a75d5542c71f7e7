// Package identity says whose a Supabase access token is. It owns what makes a token good: its signature by one of the
// project's keys, its times, its audience and issuer, and, where that is wanted, that its session still lives. It must not
// know HTTP's routes, nor what anybody may see or do: that is the database's to say.
//
// There are two kinds of tokens, and each has a parser with keys of its own, so that no token chooses how it is checked:
// those signed with the project's private key (ES256, RS256; the public halves are served as a JWKS), and those signed with
// its older shared secret (HS256).
package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"tasklens/internal/fault"
)

// RoleService is the role of the service's own key. Whom it names sees and may do everything.
const RoleService = "service_role"

// Caller is whom a token speaks for.
type Caller struct {
	Role    string // that Postgres acts as for them
	Subject string // the user's id; "" for the service
	// Digest stands for all that a policy could read of the token, its times apart: whoever has the same one sees the same.
	// It does not show what it was made of.
	Digest string
}

// IsService says whether a caller is the service, or who holds its key.
func (c Caller) IsService() bool { return c.Role == RoleService }

// IssuerOf is what the access tokens of a Supabase project name as their issuer: where its Auth is.
func IssuerOf(supabaseURL string) string { return strings.TrimRight(supabaseURL, "/") + "/auth/v1" }

// Options are what an operator chooses.
type Options struct {
	Issuer     string // of access tokens; see IssuerOf
	KeySetURL  string // of the JWKS; "" where the project has none
	Secret     []byte // of tokens of the older kind; empty where none are taken
	ServiceKey string // of which the bearer is the service
	// SupabaseURL is where Auth is asked whether a session still lives; "": what the token says is enough.
	SupabaseURL string
	Transport   http.RoundTripper // of all requests; nil: one of its own
}

// Verifier verifies tokens. It is safe for concurrent use, and keeps no token.
type Verifier struct {
	options  Options
	keys     *keySet   // nil where the project has none
	sessions *sessions // nil where they are not asked for
	now      func() time.Time
}

// New makes a verifier; nothing is asked yet.
func New(options Options) *Verifier {
	if options.Transport == nil {
		options.Transport = newTransport()
	}
	v := &Verifier{options: options, now: time.Now}
	if options.KeySetURL != "" {
		v.keys = newKeySet(options.KeySetURL, options.Transport)
	}
	if options.SupabaseURL != "" {
		v.sessions = newSessions(options.SupabaseURL, options.ServiceKey, options.Transport)
	}
	return v
}

// Verify says whose a token is. Failures are *fault.Error: Unauthorized for a token that is not good, Unavailable where
// that could not be found out.
func (v *Verifier) Verify(ctx context.Context, token string) (Caller, error) {
	// Supabase's newer keys are no tokens at all, so the service's own is known by itself.
	if key := v.options.ServiceKey; key != "" && subtle.ConstantTimeCompare([]byte(token), []byte(key)) == 1 {
		return Caller{Role: RoleService, Digest: digest("the service's key")}, nil
	}
	caller, err := v.parse(ctx, token)
	if err != nil {
		return Caller{}, err
	}
	if v.sessions == nil || caller.IsService() {
		return caller, nil
	}
	alive, err := v.sessions.alive(ctx, token, caller.Subject)
	switch {
	case err != nil:
		return Caller{}, fault.Wrap(fault.Unavailable, "The access token cannot be checked now.", err)
	case !alive:
		return Caller{}, fault.New(fault.Unauthorized, "The session of this access token has ended.")
	}
	return caller, nil
}

// Ready says what keeps tokens from being verified: nil where nothing does.
func (v *Verifier) Ready(ctx context.Context) error {
	if v.keys == nil {
		return nil
	}
	_, err := v.keys.present(ctx)
	return err
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// newTransport keeps a few connections to one host.
func newTransport() http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.MaxResponseHeaderBytes = 64 << 10
	return transport
}

// noRedirect keeps a token, and whom keys are taken from, where the operator said.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

var errNoKind = errors.New("tokens of this kind are not taken here")
