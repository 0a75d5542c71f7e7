package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"tasklens/internal/identity"
)

// clockSkew is PostgREST's tolerance between two clocks.
const clockSkew = 30 * time.Second

// caller is the identity of a transaction.
type caller struct {
	role string
	// claims is the token's payload as JSON, always with a role.
	claims []byte
	// anonymous decides between 401 and 403. A token for the anonymous role counts as anonymous.
	anonymous bool
}

// Token signs claims with HS256, like Supabase's API keys.
func Token(secret []byte, claims map[string]any) (string, error) {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims(claims)).SignedString(secret)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return token, nil
}

// authenticate converts the Authorization header to a caller. Other schemes than Bearer count as no
// token.
func (g *Gateway) authenticate(header string) (caller, error) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	claims := jwt.MapClaims{}
	if strings.EqualFold(scheme, "Bearer") {
		if err := g.verify(strings.TrimSpace(token), claims); err != nil {
			return caller{}, err
		}
	}
	role := g.config.AnonRole
	given, has := claims["role"]
	if has && (given == nil || given == "") {
		return caller{}, invalidClaims("Parsing claims failed")
	}
	switch named := given.(type) {
	case nil:
	case string:
		role = named
	default:
		// Not a string, but the caller must not get another role: Postgres will report that this
		// role does not exist.
		text, err := json.Marshal(named)
		if err != nil {
			return caller{}, invalidClaims("Parsing claims failed")
		}
		role = string(text)
	}
	if role == "" {
		return caller{}, fault{status: http.StatusUnauthorized, code: "PGRST302",
			message: "Anonymous access is disabled", challenge: "Bearer"}
	}
	claims["role"] = role
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(claims); err != nil {
		return caller{}, invalidClaims("Parsing claims failed")
	}
	return caller{role: role, claims: bytes.TrimSpace(text.Bytes()), anonymous: role == g.config.AnonRole}, nil
}

// verify checks signature and expiry, and fills claims.
func (g *Gateway) verify(token string, claims jwt.MapClaims) error {
	if token == "" {
		return invalidToken("Empty JWT is sent in Authorization header", "")
	}
	if parts := strings.Count(token, ".") + 1; parts != 3 {
		return invalidToken(fmt.Sprintf("Expected 3 parts in JWT; got %d", parts), "")
	}
	// Only HS256, or a token could choose how it is verified. The expiry is checked below, with
	// PostgREST's message.
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithJSONNumber(), jwt.WithoutClaimsValidation())
	parsed, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return g.config.JWTSecret, nil })
	if err != nil || parsed.Header["kid"] != nil { // the secret has no such name
		return invalidToken("No suitable key or wrong key type", "None of the keys was able to decode the JWT")
	}
	if claims["exp"] == nil {
		return nil
	}
	number, _ := claims["exp"].(json.Number)
	expiry, err := number.Int64()
	if err != nil {
		return invalidClaims("The JWT 'exp' claim must be a number")
	}
	if expiry < time.Now().Add(-clockSkew).Unix() {
		return invalidClaims("JWT expired")
	}
	return nil
}

func invalidToken(message, details string) fault {
	return fault{status: http.StatusUnauthorized, code: "PGRST301", message: message, details: details, challenge: challenge(message)}
}

func invalidClaims(message string) fault {
	return fault{status: http.StatusUnauthorized, code: "PGRST303", message: message, challenge: challenge(message)}
}

func challenge(message string) string {
	return fmt.Sprintf(`Bearer error="invalid_token", error_description=%q`, message)
}

// UserClaims returns the claims that Supabase Auth gives a user of the project for an hour.
func UserClaims(supabaseURL, role, user string) (map[string]any, error) {
	if uuid.Validate(user) != nil {
		return nil, fmt.Errorf("a user's id is a UUID, which %q is not", user)
	}
	return map[string]any{
		"role": role, "sub": user, "aud": "authenticated", "iss": identity.IssuerOf(supabaseURL), "exp": time.Now().Add(time.Hour).Unix(),
	}, nil
}
