package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"tasklens/internal/fault"
)

const (
	// audience is the audience of Supabase's access tokens.
	audience = "authenticated"
	// leeway is the allowed clock skew. PostgREST allows more.
	leeway = 10 * time.Second
)

var errNoKind = errors.New("tokens of this kind are not taken here")

// parse verifies a token and returns its owner.
func (v *Verifier) parse(ctx context.Context, token string) (Caller, error) {
	claims, err := v.claims(ctx, token)
	var failure *fault.Error
	switch {
	case errors.As(err, &failure):
		return Caller{}, failure
	case errors.Is(err, jwt.ErrTokenExpired):
		return Caller{}, fault.Wrap(fault.Unauthorized, "The access token has expired.", err).Because(fault.TokenExpired)
	case err != nil:
		return Caller{}, invalid(err)
	}
	return newCaller(claims)
}

// claims verifies the signature and the claims of a token.
func (v *Verifier) claims(ctx context.Context, token string) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256", "RS256", "HS256"}), jwt.WithJSONNumber(),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway))
	parsed, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) { return v.key(ctx, t) })
	if err != nil {
		return nil, err
	}
	// The older secret also signs API keys: the service's has no audience and another issuer.
	if parsed.Method == jwt.SigningMethodHS256 && claims["role"] == RoleService {
		return claims, nil
	}
	issuer, err := claims.GetIssuer()
	if issuer = cmp.Or(issuer, NoIssuer); err == nil && !slices.Contains(v.options.Issuers, issuer) {
		err = fmt.Errorf("SUPABASE_JWT_ISSUER does not list its issuer: %s", issuer)
	}
	if subject, _ := claims["sub"].(string); err == nil && subject != "" && uuid.Validate(subject) != nil {
		return claims, nil // of third-party auth, whose audiences are its own
	}
	return claims, cmp.Or(err, jwt.NewValidator(jwt.WithAudience(audience), jwt.WithLeeway(leeway)).Validate(claims))
}

// key returns the key for a token. There are two kinds, and neither is ever used for the algorithms
// of the other: the shared secret verifies HS256 only, the public keys ES256 and RS256 only.
func (v *Verifier) key(ctx context.Context, token *jwt.Token) (any, error) {
	shared := token.Method == jwt.SigningMethodHS256
	switch {
	case shared && len(v.options.Secret) > 0:
		return v.options.Secret, nil
	case shared || v.options.KeySetURL == "":
		return nil, errNoKind
	}
	return v.keys.find(ctx, token)
}

// maxSubject bounds the bytes of a token's subject.
const maxSubject = 255

// newCaller reads verified claims.
func newCaller(claims jwt.MapClaims) (Caller, error) {
	role, _ := claims["role"].(string)
	subject, _ := claims["sub"].(string)
	switch {
	case role == "":
		return Caller{}, invalid(errors.New("it names no role"))
	case role == RoleService:
		subject = ""
	case subject == "" || len(subject) > maxSubject: // a UUID, or a text of third-party auth
		return Caller{}, invalid(errors.New("it names no subject"))
	}
	// A refreshed token belongs to the same caller. Policies may read every other claim.
	for _, changing := range []string{"exp", "iat", "nbf", "jti"} {
		delete(claims, changing)
	}
	text, err := json.Marshal(claims) // sorted by name
	if err != nil {
		return Caller{}, fmt.Errorf("encode claims: %w", err)
	}
	return Caller{Role: role, Subject: subject, Digest: Digest(string(text))}, nil
}

func invalid(cause error) error {
	return fault.Wrap(fault.Unauthorized, "The access token is not valid.", cause)
}
