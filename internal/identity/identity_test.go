package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"tasklens/internal/fault"
)

func TestValidTokensOfBothKinds(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	for name, token := range map[string]string{
		"ES256": p.ec(nil), "RS256": p.sign(jwt.SigningMethodRS256, "rsa", nil), "HS256": p.hs(nil),
		"several audiences":      p.ec(map[string]any{"aud": []string{"other", "authenticated"}}),
		"a clock that is behind": p.ec(map[string]any{"exp": p.clock.Add(-5 * time.Second).Unix()}),
		"a clock that is ahead":  p.ec(map[string]any{"iat": p.clock.Add(5 * time.Second).Unix(), "nbf": p.clock.Add(5 * time.Second).Unix()}),
	} {
		t.Run(name, func(t *testing.T) {
			if caller := expect(t, v, token, ""); caller.Subject != user || caller.Role != "authenticated" || caller.IsService() {
				t.Errorf("it is %+v", caller)
			}
		})
	}
	if p.readings() != 1 {
		t.Errorf("the key set was read %d times", p.readings())
	}
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(p.keys["ec"].Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	withKey := func(method jwt.SigningMethod, kid string, key any) string {
		token := jwt.NewWithClaims(method, p.claims(nil))
		token.Header["kid"] = kid
		text, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	good := p.ec(nil)
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"nothing":                         "",
		"nonsense":                        "nonsense",
		"three parts of nonsense":         "a.b.c",
		"no signature":                    parts[0] + "." + parts[1] + ".",
		"other claims":                    parts[0] + "." + strings.Split(p.ec(map[string]any{"sub": strings.Replace(user, "0", "1", 1)}), ".")[1] + "." + parts[2],
		"none":                            p.sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil),
		"none, in other case":             base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"None"}`)) + "." + parts[1] + ".",
		"another's key under our name":    withKey(jwt.SigningMethodES256, "ec", stranger),
		"a key that is not there":         withKey(jwt.SigningMethodES256, "gone", stranger),
		"the public key as the secret":    withKey(jwt.SigningMethodHS256, "ec", public),
		"the public key's DER, likewise":  withKey(jwt.SigningMethodHS256, "ec", der),
		"another secret":                  p.sign(jwt.SigningMethodHS256, []byte("another secret of the older kind, long too"), nil),
		"the secret by another algorithm": p.sign(jwt.SigningMethodHS512, []byte(secret), nil),
		"a key by another algorithm":      p.sign(jwt.SigningMethodRS512, "rsa", nil),
		"a padding of another kind":       p.sign(jwt.SigningMethodPS256, "rsa", nil),
		"a key of another kind":           withKey(jwt.SigningMethodES256, "rsa", stranger),
		"expired":                         p.ec(map[string]any{"exp": p.clock.Add(-time.Minute).Unix()}),
		"expired, shared":                 p.hs(map[string]any{"exp": p.clock.Add(-time.Minute).Unix()}),
		"good for ever":                   p.ec(map[string]any{"exp": nil}),
		"good for ever, shared":           p.hs(map[string]any{"exp": nil}),
		"not good yet":                    p.ec(map[string]any{"nbf": p.clock.Add(time.Minute).Unix()}),
		"made in the future":              p.hs(map[string]any{"iat": p.clock.Add(time.Minute).Unix()}),
		"another audience":                p.ec(map[string]any{"aud": "another"}),
		"another audience, shared":        p.hs(map[string]any{"aud": "another"}),
		"no audience":                     p.ec(map[string]any{"aud": nil}),
		"another issuer":                  p.ec(map[string]any{"iss": "https://another.supabase.co/auth/v1"}),
		"another issuer, shared":          p.hs(map[string]any{"iss": "https://another.supabase.co/auth/v1"}),
		"no issuer":                       p.hs(map[string]any{"iss": nil}),
		"no role":                         p.ec(map[string]any{"role": nil}),
		"a role that is no name":          p.ec(map[string]any{"role": 7}),
		"no subject":                      p.ec(map[string]any{"sub": nil}),
		"a subject without end":           p.ec(map[string]any{"sub": strings.Repeat("x", 256)}),
		"third-party auth, no role":       p.ec(map[string]any{"sub": "user_2aBc", "role": nil}),
		"third-party auth, other issuer":  p.ec(map[string]any{"sub": "user_2aBc", "iss": "https://another.example"}),
		"an anonymous API key":            p.hs(map[string]any{"role": "anon", "iss": "supabase", "aud": nil, "sub": nil}),
		"a service's token, not ours":     p.ec(map[string]any{"role": "service_role", "iss": "supabase", "aud": nil}),
		"almost the service's key":        "sb_secret_of_the_servicf",
	} {
		t.Run(name, func(t *testing.T) { expect(t, v, token, fault.Unauthorized) })
	}
}

// Third-party auth has subjects and audiences of its own.
func TestThirdPartyAuth(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	for _, subject := range []string{"user_2aBcDeFgHiJkLmNoPqRsTuVwXyZ", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9t", "auth0|0123456789abcdef01234567"} {
		for _, audience := range []any{"authenticated", "my-project", nil} {
			caller, err := v.Verify(t.Context(), p.ec(map[string]any{"sub": subject, "aud": audience}))
			if err != nil || caller.Subject != subject || caller.Role != "authenticated" {
				t.Errorf("%s for %v: %+v, %v", subject, audience, caller, err)
			}
		}
	}
}

// The issuers that are listed are accepted, and tokens without one where that is listed.
func TestIssuers(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	local := "http://localhost:8000"
	for _, issuers := range [][]string{{"https://example.supabase.co/auth/v1"}, {local}, {NoIssuer}, {"https://example.supabase.co/auth/v1", NoIssuer}, {local, NoIssuer}} {
		v := p.verifier(func(o *Options) { o.Issuers = issuers })
		for _, issuer := range []any{"https://example.supabase.co/auth/v1", local, local + "/", "none", nil, 5, []string{local}} {
			name, isText := issuer.(string)
			good := isText && slices.Contains(issuers, name) || issuer == nil && slices.Contains(issuers, NoIssuer)
			for _, token := range []string{p.hs(map[string]any{"iss": issuer}), p.ec(map[string]any{"iss": issuer})} {
				if _, err := v.Verify(t.Context(), token); (err == nil) != good || err != nil && fault.CodeOf(err) != fault.Unauthorized ||
					err != nil && isText && !strings.Contains(err.Error(), "SUPABASE_JWT_ISSUER does not list its issuer: "+name) {
					t.Errorf("issuer %v of %q: %v", issuer, issuers, err)
				}
			}
		}
	}
}

// A kind of token that a project does not use is rejected, even if its signature is valid.
func TestKindsCanBeDisabled(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	shared, public := p.verifier(sharedOnly), p.verifier(publicOnly)
	expect(t, shared, p.hs(nil), "")
	expect(t, shared, p.ec(nil), fault.Unauthorized)
	expect(t, public, p.ec(nil), "")
	expect(t, public, p.hs(nil), fault.Unauthorized)
	expect(t, public, p.sign(jwt.SigningMethodHS256, []byte{}, nil), fault.Unauthorized)
	if err := shared.Ready(); err != nil {
		t.Errorf("not ready: %v", err)
	}
}

func TestTheService(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier(p.strict)
	for name, token := range map[string]string{
		"its key":          "sb_secret_of_the_service",
		"its older key":    p.hs(map[string]any{"role": "service_role", "iss": "supabase", "aud": nil, "sub": nil, "session_id": nil}),
		"its access token": p.ec(map[string]any{"role": "service_role"}),
	} {
		if caller := expect(t, v, token, ""); !caller.IsService() || caller.Subject != "" || caller.Digest == "" {
			t.Errorf("%s is %+v", name, caller)
		}
	}
	expect(t, v, p.hs(map[string]any{"role": "service_role", "exp": p.clock.Add(-time.Minute).Unix()}), fault.Unauthorized)
	expect(t, p.verifier(func(o *Options) { o.ServiceKey = "" }), "", fault.Unauthorized)
}

// Equal callers share cached responses. Any difference that a policy could read changes the digest.
func TestDigests(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	first := expect(t, v, p.ec(nil), "").Digest
	refreshed := map[string]any{"exp": p.clock.Add(2 * time.Hour).Unix(), "iat": p.clock.Add(time.Second).Unix(), "jti": "another"}
	if got := expect(t, v, p.ec(refreshed), "").Digest; got != first {
		t.Error("a refreshed token is taken for another caller's")
	}
	seen := map[string]string{first: "the first"}
	for name, change := range map[string]map[string]any{
		"subject": {"sub": "0b6a3c0e-5f0b-4a51-9d0f-6f7f2f6f3b12"}, "role": {"role": "editor"}, "level": {"aal": "aal2"}, "session": {"session_id": "other"},
		"metadata": {"app_metadata": map[string]any{"provider": "email", "org": 7}}, "anonymous": {"is_anonymous": true}, "service": {"role": "service_role"},
	} {
		got := expect(t, v, p.ec(change), "").Digest
		if other, is := seen[got]; is {
			t.Errorf("another %s is the same as %s", name, other)
		}
		seen[got] = name
	}
	if strings.Contains(first, user) {
		t.Error("the digest shows the user")
	}
}
