// Package identity verifies Supabase access tokens: the signature by one of the project's keys, the
// times, the audience and issuer and, if configured, that the session still exists. It does not
// know HTTP routes or permissions: those are decided in the database.
package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"

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

// NoIssuer stands for the issuer of tokens that name none.
const NoIssuer = "none"

// Options configure a Verifier.
type Options struct {
	Issuers    []string // of tokens
	KeySetURL  string   // of the JWKS; "" where the project has none
	Secret     []byte   // of the older kind of tokens; empty to reject them
	ServiceKey string   // as a bearer token it means the service itself
	// SupabaseURL is where Auth is asked whether a session still exists; "" to skip that check.
	SupabaseURL string
}

// Verifier verifies tokens. It is safe for concurrent use and stores no token.
type Verifier struct {
	options  Options
	keys     *keySet
	sessions *sessions // nil if sessions are not checked
}

// New returns a verifier. It sends no request.
func New(options Options) *Verifier {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	// Tokens and keys go to and come from the configured host only.
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	v := &Verifier{options: options, keys: newKeySet(options.KeySetURL, &client)}
	if options.SupabaseURL != "" {
		v.sessions = newSessions(options.SupabaseURL, options.ServiceKey, client)
	}
	return v
}

// Verify returns the owner of a token. Its errors are *fault.Error: Unauthorized for an invalid
// token, Unavailable if the token could not be checked.
func (v *Verifier) Verify(ctx context.Context, token string) (Caller, error) {
	// Supabase's newer keys are not JWTs, so the service key is compared directly.
	if key := v.options.ServiceKey; key != "" && subtle.ConstantTimeCompare([]byte(token), []byte(key)) == 1 {
		return Caller{Role: RoleService, Digest: Digest("the service's key")}, nil
	}
	caller, err := v.parse(ctx, token)
	if err != nil || v.sessions == nil || caller.IsService() {
		return caller, err
	}
	alive, err := v.sessions.alive(token, caller.Subject)
	switch {
	case err != nil:
		return Caller{}, fault.Wrap(fault.Unavailable, "The access token cannot be checked now.", err)
	case !alive:
		return Caller{}, fault.New(fault.Unauthorized, "The session of this access token has ended.").Because(fault.SessionEnded)
	}
	return caller, nil
}

// Ready returns why tokens cannot be verified now, or nil.
func (v *Verifier) Ready() error {
	if v.options.KeySetURL == "" {
		return nil
	}
	return v.keys.load(context.Background(), "")
}

// Digest hashes a text that must not be stored or logged.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
