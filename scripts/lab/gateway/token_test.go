package gateway

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

var testSecret = []byte(strings.Repeat("s", minSecret))

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	const missing = "(missing)"
	now := time.Now().Unix()
	claims := func(pairs ...any) string {
		all := map[string]any{"role": "authenticated"}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i].(string)] = pairs[i+1]
		}
		maps.DeleteFunc(all, func(_ string, value any) bool { return value == missing })
		token, err := Token(testSecret, all)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + token
	}
	signed := func(method jwt.SigningMethod, key any) string {
		token, err := jwt.NewWithClaims(method, jwt.MapClaims{"role": "service_role"}).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + token
	}
	withKid := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"role": "anon"})
	withKid.Header["kid"] = "another"
	named, err := withKid.SignedString(testSecret)
	if err != nil {
		t.Fatal(err)
	}
	named = "Bearer " + named
	g := &Gateway{config: Config{JWTSecret: testSecret, AnonRole: "anon"}}
	for _, test := range []struct{ name, header, role, fault string }{
		{"no header", "", "anon", ""},
		{"another scheme", "Basic YTpi", "anon", ""},
		{"good", claims(), "authenticated", ""},
		{"scheme in lower case", strings.Replace(claims(), "Bearer", "bearer", 1), "authenticated", ""},
		{"without role", claims("role", missing), "anon", ""},
		{"role is null", claims("role", nil), "", "PGRST303: Parsing claims failed"},
		{"role is empty", claims("role", ""), "", "PGRST303: Parsing claims failed"},
		{"audience is a number", claims("aud", 5), "", "PGRST303: The JWT 'aud' claim must be a string or an array of strings"},
		{"audiences", claims("aud", []string{"authenticated"}), "authenticated", ""},
		{"an unknown key's name", named, "", "PGRST301: No suitable key or wrong key type"},
		{"role is a number", claims("role", 7), "7", ""},
		{"empty token", "Bearer ", "", "PGRST301: Empty JWT is sent in Authorization header"},
		{"two parts", "Bearer a.b", "", "PGRST301: Expected 3 parts in JWT; got 2"},
		{"three parts of nothing", "Bearer ..", "", "PGRST301: No suitable key or wrong key type"},
		{"no algorithm", signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType), "", "PGRST301: No suitable key or wrong key type"},
		{"another algorithm", signed(jwt.SigningMethodHS512, testSecret), "", "PGRST301: No suitable key or wrong key type"},
		{"another key", signed(jwt.SigningMethodHS256, []byte("x")), "", "PGRST301: No suitable key or wrong key type"},
		{"expired within the skew", claims("exp", now-10), "authenticated", ""},
		{"expired", claims("exp", now-60), "", "PGRST303: JWT expired"},
		{"huge expiry", claims("exp", json.Number("1e300")), "", "PGRST303: The JWT 'exp' claim must be a number"},
		{"expiry with a fraction", claims("exp", float64(now)+60.5), "", "PGRST303: The JWT 'exp' claim must be a number"},
		{"not yet", claims("nbf", now+60), "", "PGRST303: JWT not yet valid"},
		{"issued later", claims("iat", now+60), "", "PGRST303: JWT issued at future"},
		{"expiry is text", claims("exp", "tomorrow"), "", "PGRST303: The JWT 'exp' claim must be a number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			who, err := g.authenticate(test.header)
			if test.fault != "" {
				var f fault
				if !errors.As(err, &f) || f.Error() != test.fault || f.status != 401 || f.challenge == "" {
					t.Fatalf("fault %v, want %s", err, test.fault)
				}
				return
			}
			if err != nil || who.role != test.role || who.anonymous != (test.role == "anon") {
				t.Fatalf("caller %+v, %v, want role %s", who, err, test.role)
			}
			var got struct{ Role string }
			if err := json.Unmarshal(who.claims, &got); err != nil || got.Role != test.role {
				t.Fatalf("claims %s, %v", who.claims, err)
			}
		})
	}
}

// Claims are passed on unchanged: large numbers exactly, without escapes.
func TestClaimsAreKept(t *testing.T) {
	t.Parallel()
	token, err := Token(testSecret, map[string]any{"role": "anon", "n": json.Number("9007199254740993"), "s": "<&>"})
	if err != nil {
		t.Fatal(err)
	}
	who, err := (&Gateway{config: Config{JWTSecret: testSecret}}).authenticate("Bearer " + token)
	if want := `{"n":9007199254740993,"role":"anon","s":"<&>"}`; err != nil || string(who.claims) != want {
		t.Fatalf("claims %s, %v, want %s", who.claims, err, want)
	}
}
