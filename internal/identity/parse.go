package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// parse verifies a token with the parser of its kind. The token's algorithm selects the parser, but
// neither parser accepts the other's algorithms or has the other's keys.
func (v *Verifier) parse(ctx context.Context, token string) (Caller, error) {
	claims := jwt.MapClaims{}
	unverified, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if err == nil {
		if unverified.Method.Alg() == jwt.SigningMethodHS256.Alg() {
			err = v.parseShared(token, claims)
		} else {
			err = v.parsePublic(ctx, token, claims)
		}
	}
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

// parsePublic verifies a token signed with the project's private key.
func (v *Verifier) parsePublic(ctx context.Context, token string, claims jwt.MapClaims) error {
	if v.keys == nil {
		return errNoKind
	}
	_, err := v.parser("ES256", "RS256").ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) { return v.keys.key(ctx, t) })
	if err != nil {
		return err
	}
	return v.validate(claims)
}

// parseShared verifies a token signed with the project's older secret. That secret also signs API
// keys: the service's has no audience and another issuer.
func (v *Verifier) parseShared(token string, claims jwt.MapClaims) error {
	if len(v.options.Secret) == 0 {
		return errNoKind
	}
	_, err := v.parser("HS256").ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return v.options.Secret, nil })
	if err != nil || claims["role"] == RoleService {
		return err
	}
	return v.validate(claims)
}

// parser accepts only these algorithms and checks the times.
func (v *Verifier) parser(algorithms ...string) *jwt.Parser {
	return jwt.NewParser(jwt.WithValidMethods(algorithms), jwt.WithJSONNumber(), v.times(), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway))
}

// validate checks the remaining claims of an access token.
func (v *Verifier) validate(claims jwt.MapClaims) error {
	return jwt.NewValidator(jwt.WithAudience(audience), jwt.WithIssuer(v.options.Issuer), v.times(), jwt.WithLeeway(leeway)).Validate(claims)
}

func (v *Verifier) times() jwt.ParserOption { return jwt.WithTimeFunc(v.now) }

// newCaller reads verified claims.
func newCaller(claims jwt.MapClaims) (Caller, error) {
	role, _ := claims["role"].(string)
	subject, _ := claims["sub"].(string)
	switch {
	case role == "":
		return Caller{}, invalid(errors.New("it names no role"))
	case role == RoleService:
		subject = ""
	case len(subject) != 36 || uuid.Validate(subject) != nil: // policies cast it to uuid
		return Caller{}, invalid(errors.New("its subject is no UUID"))
	}
	// A refreshed token belongs to the same caller. Policies may read every other claim.
	for _, changing := range []string{"exp", "iat", "nbf", "jti"} {
		delete(claims, changing)
	}
	text, err := json.Marshal(claims) // sorted by name
	if err != nil {
		return Caller{}, fmt.Errorf("encode claims: %w", err)
	}
	return Caller{Role: role, Subject: subject, Digest: digest(string(text))}, nil
}

func invalid(cause error) error {
	return fault.Wrap(fault.Unauthorized, "The access token is not valid.", cause)
}
