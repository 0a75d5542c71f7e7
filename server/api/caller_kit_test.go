package api_test

import (
	"fmt"
	"time"

	"tasklens/internal/identity"
	"tasklens/scripts/lab/gateway"
)

const issuer = "https://example.supabase.co/auth/v1"

// authenticated is a service with AUTH=on that accepts HS256 tokens.
func authenticated(c *setup) {
	c.verifier = func(s *service, options identity.Options) *identity.Verifier {
		options.Issuers, options.Secret = []string{issuer}, s.secret
		return identity.New(options)
	}
}

// userID returns the id of the test's n-th user.
func userID(n int) string { return fmt.Sprintf("0b6a3c0e-5f0b-4a51-9d0f-%012d", n) }

// user returns an access token of the n-th user. claims are pairs that override the usual ones.
func (s *service) user(n int, more ...any) string {
	s.t.Helper()
	claims := map[string]any{"iss": issuer, "aud": "authenticated", "role": "authenticated", "sub": userID(n), "exp": time.Now().Add(time.Hour).Unix()}
	for i := 0; i < len(more); i += 2 {
		claims[more[i].(string)] = more[i+1]
	}
	token, err := gateway.Token(s.secret, claims)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// asking returns the Authorization header for a token.
func asking(token string) []string { return []string{"Authorization", "Bearer " + token} }

// labelled is a text that tells whose it is.
func labelled(n int) string { return fmt.Sprintf("tenant-%d. The payment was charged twice.", n) }
