package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"tasklens/internal/fault"
)

const (
	secret = "a shared secret of the older kind, long enough"
	user   = "0b6a3c0e-5f0b-4a51-9d0f-6f7f2f6f3b11"
)

// project is the part of a Supabase project that signs tokens, serves its keys and keeps sessions.
type project struct {
	t      *testing.T
	server *httptest.Server
	clock  time.Time
	mutex  sync.Mutex
	keys   map[string]crypto.Signer
	status int // of the key set; 0: 200 with the keys
	reads  int // of the key set
	user   func(http.ResponseWriter, *http.Request)
	asked  []*http.Request // by Auth
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{t: t, clock: time.Now(), keys: map[string]crypto.Signer{}}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.keys["ec"], p.keys["rsa"] = ec, private
	routes := http.NewServeMux()
	routes.HandleFunc("GET /auth/v1/.well-known/jwks.json", p.serveKeys)
	routes.HandleFunc("GET /auth/v1/user", func(w http.ResponseWriter, r *http.Request) {
		p.mutex.Lock()
		p.asked = append(p.asked, r)
		answer := p.user
		p.mutex.Unlock()
		answer(w, r)
	})
	p.server = httptest.NewServer(routes)
	t.Cleanup(p.server.Close)
	return p
}

func (p *project) serveKeys(w http.ResponseWriter, _ *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.reads++
	if p.status < 0 {
		_, _ = io.WriteString(w, "<html>")
		return
	}
	if p.status != 0 {
		w.WriteHeader(p.status)
		return
	}
	set := jwkset.JWKSMarshal{Keys: []jwkset.JWKMarshal{}}
	for id, key := range p.keys {
		jwk, err := jwkset.NewJWKFromKey(key.Public(), jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: id, USE: jwkset.UseSig}})
		if err != nil {
			p.t.Error(err)
		}
		set.Keys = append(set.Keys, jwk.Marshal())
	}
	_ = json.NewEncoder(w).Encode(set)
}

// is sets the status of the key set, 0 for the keys, -1 for a page.
func (p *project) is(status int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.status = status
}

func (p *project) readings() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.reads
}

func (p *project) options() Options {
	return Options{Issuers: []string{"https://example.supabase.co/auth/v1"}, KeySetURL: p.server.URL + "/auth/v1/.well-known/jwks.json", Secret: []byte(secret), ServiceKey: "sb_secret_of_the_service"}
}

// verifier returns a verifier for this project.
func (p *project) verifier(changes ...func(*Options)) *Verifier {
	options := p.options()
	for _, change := range changes {
		change(&options)
	}
	return New(options)
}

func sharedOnly(o *Options)          { o.KeySetURL = "" }
func publicOnly(o *Options)          { o.Secret = nil }
func (p *project) strict(o *Options) { o.SupabaseURL = p.server.URL + "/" }

// claims returns the claims of a valid access token with changes; nil removes one.
func (p *project) claims(changes map[string]any) jwt.MapClaims {
	claims := jwt.MapClaims{
		"iss": p.options().Issuers[0], "aud": "authenticated", "sub": user, "role": "authenticated", "session_id": "27c8b5f0-0000-4000-8000-000000000001",
		"iat": p.clock.Unix(), "exp": p.clock.Add(time.Hour).Unix(), "aal": "aal1", "app_metadata": map[string]any{"provider": "email"},
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// sign signs a token. key is the name of one of the project's keys, or a key.
func (p *project) sign(method jwt.SigningMethod, key any, changes map[string]any) string {
	p.t.Helper()
	token := jwt.NewWithClaims(method, p.claims(changes))
	if id, named := key.(string); named {
		token.Header["kid"], key = id, p.keys[id]
	}
	text, err := token.SignedString(key)
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

func (p *project) ec(changes map[string]any) string {
	return p.sign(jwt.SigningMethodES256, "ec", changes)
}
func (p *project) hs(changes map[string]any) string {
	return p.sign(jwt.SigningMethodHS256, []byte(secret), changes)
}

// expect verifies a token. code is "" if it is valid.
func expect(t *testing.T, v *Verifier, token string, code fault.Code) Caller {
	t.Helper()
	caller, err := v.Verify(t.Context(), token)
	switch {
	case err == nil && code != "":
		t.Errorf("it was taken, as %+v", caller)
	case err != nil && fault.CodeOf(err) != code:
		t.Errorf("%v, want %q", err, code)
	}
	return caller
}

// answers sets Auth's response for the user.
func (p *project) answers(status int, body string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.user = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (p *project) questions() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.asked)
}
