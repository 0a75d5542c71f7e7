package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"tasklens/internal/fault"
)

// rotate gives the project another key.
func (p *project) rotate(name string) {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.keys[name] = key
}

func TestNewKeyIsAcceptedAtOnce(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	expect(t, v, p.ec(nil), "")
	p.rotate("next")
	expect(t, v, p.sign(jwt.SigningMethodES256, "next", nil), "")
	expect(t, v, p.ec(nil), "")
	if p.readings() != 2 {
		t.Errorf("the key set was read %d times", p.readings())
	}
}

// A client that invents key names cannot cause a request for each.
func TestUnknownKeysAreFetchedRarely(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	for i := range 50 {
		token := jwt.NewWithClaims(jwt.SigningMethodES256, p.claims(nil))
		token.Header["kid"] = fmt.Sprint("made up ", i)
		text, err := token.SignedString(p.keys["ec"])
		if err != nil {
			t.Fatal(err)
		}
		expect(t, v, text, fault.Unauthorized)
	}
	if got := p.readings(); got != 1+unknownBurst {
		t.Errorf("the key set was read %d times", got)
	}
	p.rotate("next")
	token := p.sign(jwt.SigningMethodES256, "next", nil)
	expect(t, v, token, fault.Unauthorized)
	p.clock = p.clock.Add(unknownEvery)
	expect(t, v, token, "")
}

// While the key set is unavailable, tokens are not rejected as invalid.
func TestUnreachableKeySet(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"failing": http.StatusInternalServerError, "elsewhere": http.StatusFound, "missing": http.StatusNotFound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			v := p.verifier()
			token := p.ec(nil)
			p.is(status)
			for range 3 {
				expect(t, v, token, fault.Unavailable)
			}
			if p.readings() != 1 {
				t.Errorf("the key set was read %d times within its pause", p.readings())
			}
			if err := v.Ready(t.Context()); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("ready: %v", err)
			}
			expect(t, v, p.hs(nil), "") // needs no key set
			p.is(0)
			p.clock = p.clock.Add(keySetPause)
			expect(t, v, token, "")
			if err := v.Ready(t.Context()); err != nil {
				t.Errorf("not ready: %v", err)
			}
		})
	}
}

// A cached set is used while it cannot be refreshed, for a bounded time. A withdrawn key is
// rejected in time.
func TestKeySetExpires(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	fresh := func() string { return p.ec(nil) }
	expect(t, v, fresh(), "")
	p.is(http.StatusBadGateway)
	p.clock = p.clock.Add(keySetAge)
	expect(t, v, fresh(), "")
	p.await(2)
	unknown := p.sign(jwt.SigningMethodES256, p.keys["ec"], nil) // without a key name: any known key may match
	expect(t, v, unknown, "")
	p.rotate("next")
	expect(t, v, p.sign(jwt.SigningMethodES256, "next", nil), fault.Unavailable)
	p.clock = p.clock.Add(keySetStale)
	expect(t, v, fresh(), fault.Unavailable)
	p.is(0)
	p.clock = p.clock.Add(keySetPause)
	expect(t, v, fresh(), "")
	withdrawn := p.sign(jwt.SigningMethodES256, "next", map[string]any{"exp": p.clock.Add(time.Hour).Unix()})
	expect(t, v, withdrawn, "")
	p.mutex.Lock()
	delete(p.keys, "next")
	p.mutex.Unlock()
	before := p.readings()
	p.clock = p.clock.Add(keySetAge)
	expect(t, v, withdrawn, "") // the set is being refreshed
	p.await(before + 1)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := v.Verify(t.Context(), withdrawn); fault.CodeOf(err) == fault.Unauthorized {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a key that was withdrawn is still taken")
		}
	}
}

// await waits until the set was loaded this many times.
func (p *project) await(reads int) {
	p.t.Helper()
	for end := time.Now().Add(10 * time.Second); p.readings() < reads; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("the key set was read %d times, want %d", p.readings(), reads)
		}
	}
}

// Concurrent first callers share one load. A caller whose deadline passes does not wait for it.
func TestConcurrentCallersShareTheFirstFetch(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	token := p.ec(nil)
	p.mutex.Lock() // no request is answered
	hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := v.Verify(hurried, token); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("hurried: %v", err)
	}
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() { expect(t, v, token, "") })
	}
	p.mutex.Unlock()
	running.Wait()
	if p.readings() != 1 {
		t.Errorf("the key set was read %d times", p.readings())
	}
}

// A malformed key set counts as unavailable.
func TestMalformedKeySet(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"HTML": "<html>", "endless": `{"keys":[],"x":"` + strings.Repeat("x", keySetBytes) + `"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.answers(http.StatusOK, body)
			v := p.verifier(func(o *Options) { o.KeySetURL = p.server.URL + "/auth/v1/user" })
			expect(t, v, p.ec(nil), fault.Unavailable)
		})
	}
}

// fragile is a transport that panics while broken.
type fragile struct{ broken atomic.Bool }

func (f *fragile) RoundTrip(request *http.Request) (*http.Response, error) {
	if f.broken.Load() {
		panic("broken")
	}
	return http.DefaultTransport.RoundTrip(request)
}

// A panic while loading keys or checking a session is an error for all waiting callers, not a
// rejection.
func TestPanicIsNotARejection(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	transport := &fragile{}
	transport.broken.Store(true)
	keys := newKeySet(p.server.URL+"/auth/v1/.well-known/jwks.json", transport)
	sessions := newSessions(p.server.URL, "", transport)
	for range 2 {
		if _, err := keys.present(t.Context()); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("the keys: %v", err)
		}
		if _, err := sessions.alive(t.Context(), "token", user); fault.CodeOf(err) != fault.Internal {
			t.Errorf("the session: %v", err)
		}
	}
	transport.broken.Store(false)
	if err := keys.refresh(t.Context()); err != nil {
		t.Errorf("the keys: %v", err)
	}
}
