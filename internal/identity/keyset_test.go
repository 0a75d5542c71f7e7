package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"

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

// A new key is accepted at once. A withdrawn one is rejected when the set is read again.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	old := p.ec(nil)
	expect(t, v, old, "")
	p.rotate("next")
	p.mutex.Lock()
	delete(p.keys, "ec")
	p.mutex.Unlock()
	expect(t, v, old, "")
	expect(t, v, p.sign(jwt.SigningMethodES256, "next", nil), "")
	expect(t, v, old, fault.Unauthorized)
	expect(t, v, p.sign(jwt.SigningMethodES256, p.keys["next"], nil), "") // without a key name: any known key may match
}

// invented signs a token with a key's name that the project does not have.
func (p *project) invented(name string) string {
	p.t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, p.claims(nil))
	token.Header["kid"] = name
	text, err := token.SignedString(p.keys["ec"])
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// A client that invents key names cannot cause a request for each, nor keep a new key from being
// found: until it can be looked for, its tokens are not called invalid.
func TestInventedKeysHideNoNewOne(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	v.keys.budget = rate.NewLimiter(0, readBurst)
	for i := range 50 {
		_, err := v.Verify(t.Context(), p.invented(fmt.Sprint("made up ", i)))
		if code := fault.CodeOf(err); code != fault.Unauthorized && (i < readBurst-1 || code != fault.Unavailable) {
			t.Errorf("name %d: %v", i, err)
		}
	}
	if got := p.readings(); got != readBurst {
		t.Errorf("the key set was read %d times", got)
	}
	expect(t, v, p.ec(nil), "")
	p.rotate("next")
	_, err := v.Verify(t.Context(), p.sign(jwt.SigningMethodES256, "next", nil))
	if failure, is := errors.AsType[*fault.Error](err); !is || failure.Code != fault.Unavailable || failure.RetryAfter != readEvery {
		t.Errorf("the new key's token: %v", err)
	}
	v.keys.budget = rate.NewLimiter(0, 1)
	expect(t, v, p.sign(jwt.SigningMethodES256, "next", nil), "")
	for i := range 50 {
		_, _ = v.Verify(t.Context(), p.invented(fmt.Sprint("made up too ", i)))
	}
	expect(t, v, p.sign(jwt.SigningMethodES256, "next", nil), "")
}

// The tokens of a withdrawn key are rejected without a reading for each.
func TestWithdrawnKeysAreFetchedRarely(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	expect(t, v, p.ec(nil), "")
	v.keys.budget = rate.NewLimiter(0, 1)
	for range 50 {
		expect(t, v, p.invented("withdrawn"), fault.Unauthorized)
	}
	if got := p.readings(); got != 2 {
		t.Errorf("the key set was read %d times", got)
	}
}

// While the key set was never read, tokens are not rejected as invalid. Once it was, its keys serve
// while it is unavailable.
func TestUnreachableKeySet(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"failing": http.StatusInternalServerError, "elsewhere": http.StatusFound, "missing": http.StatusNotFound, "no JSON": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			v := p.verifier()
			token := p.ec(nil)
			p.is(status)
			v.keys.budget = rate.NewLimiter(0, 1)
			for range 3 {
				expect(t, v, token, fault.Unavailable)
			}
			if p.readings() != 1 {
				t.Errorf("the key set was read %d times", p.readings())
			}
			if err := v.Ready(); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("ready: %v", err)
			}
			expect(t, v, p.hs(nil), "") // needs no key set
			p.is(0)
			v.keys.budget = rate.NewLimiter(rate.Inf, 1)
			expect(t, v, token, "")
			if err := v.Ready(); err != nil {
				t.Errorf("not ready: %v", err)
			}
			p.is(status)
			expect(t, v, p.ec(nil), "")
			p.rotate("next")
			expect(t, v, p.sign(jwt.SigningMethodES256, "next", nil), fault.Unavailable)
		})
	}
}

// Concurrent first callers share one reading.
func TestConcurrentCallersShareTheFirstFetch(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	v := p.verifier()
	token := p.ec(nil)
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() { expect(t, v, token, "") })
	}
	running.Wait()
	if p.readings() != 1 {
		t.Errorf("the key set was read %d times", p.readings())
	}
}
