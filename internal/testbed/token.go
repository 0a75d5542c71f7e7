package testbed

import (
	"testing"
	"time"

	"tasklens/scripts/lab/gateway"
)

// Token returns an access token for a role, signed with the secret from REST and valid for an hour.
func Token(t testing.TB, secret []byte, role string) string {
	t.Helper()
	token, err := gateway.Token(secret, map[string]any{"role": role, "exp": time.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatalf("sign a token for %s: %v", role, err)
	}
	return token
}
