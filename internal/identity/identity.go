// Package identity verifies Supabase access tokens: the signature by one of the project's keys, the
// times, the audience and issuer and, if configured, that the session still exists. It does not
// know HTTP routes or permissions: those are decided in the database.
//
// There are two kinds of tokens, each with its own parser and keys, so that no token can choose how
// it is checked: tokens signed with the project's private key (ES256, RS256; the public keys are
// served as a JWKS), and tokens signed with its older shared secret (HS256).
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

// RoleService is the role of the service key. It bypasses row-level security.
const RoleService = "service_role"

// RoleUser is the role of signed-in users.
const RoleUser = "authenticated"

// Caller is the owner of a verified token.
type Caller struct {
	Role    string // the Postgres role
	Subject string // the user's id; "" for the service
	// Digest identifies everything in the token that a policy could read, its times excepted:
	// callers with the same digest see the same rows. It does not reveal the token.
	Digest string
}

// IsService reports whether the caller used the service key.
func (c Caller) IsService() bool { return c.Role == RoleService }

// IssuerOf returns the issuer in the access tokens of a Supabase project: the URL of its Auth
// service.
func IssuerOf(supabaseURL string) string { return strings.TrimRight(supabaseURL, "/") + "/auth/v1" }

// Options configure a Verifier.
type Options struct {
	Issuer     string // of the JWKS; "" if the project has none
	KeySetURL  string // of the JWKS; "" where the project has none
	Secret     []byte // of the older kind of tokens; empty to reject them
	ServiceKey string // as a bearer token it means the service itself
	// SupabaseURL is where Auth is asked whether a session still exists; "" to skip that check.
	SupabaseURL string
	Transport   http.RoundTripper // for all requests; nil: its own
}

// Verifier verifies tokens. It is safe for concurrent use and stores no token.
type Verifier struct {
	options  Options
	keys     *keySet   // nil if the project has none
	sessions *sessions // nil if sessions are not checked
	now      func() time.Time
}

// New returns a verifier. It sends no request.
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

// Verify returns the owner of a token. Its errors are *fault.Error: Unauthorized for an invalid
// token, Unavailable if the token could not be checked.
func (v *Verifier) Verify(ctx context.Context, token string) (Caller, error) {
	// Supabase's newer keys are not JWTs, so the service key is compared directly.
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
		return Caller{}, fault.New(fault.Unauthorized, "The session of this access token has ended.").Because(fault.SessionEnded)
	}
	return caller, nil
}

// Ready returns why tokens cannot be verified now, or nil.
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

// newTransport returns a transport that keeps a few connections to one host.
func newTransport() http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.MaxResponseHeaderBytes = 64 << 10
	return transport
}

// noRedirect refuses redirects, so that tokens and keys go to and come from the configured host
// only.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

var errNoKind = errors.New("tokens of this kind are not taken here")
