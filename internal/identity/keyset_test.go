package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
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
			for range 3 {
				expect(t, v, token, fault.Unavailable)
			}
			if p.readings() != 1 {
				t.Errorf("the key set was read %d times within its pause", p.readings())
			}
			if err := v.Ready(); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("ready: %v", err)
			}
			expect(t, v, p.hs(nil), "") // needs no key set
			p.is(0)
			v.keys.tried = time.Now().Add(-keySetPause)
			expect(t, v, token, "")
			if err := v.Ready(); err != nil {
				t.Errorf("not ready: %v", err)
			}
			p.is(status)
			expect(t, v, p.ec(nil), "")
			p.rotate("next")
			expect(t, v, p.sign(jwt.SigningMethodES256, "next", nil), fault.Unauthorized)
		})
	}
}

// A reading that failed leaves nothing that would refresh its keys for ever. Not parallel, because
// it counts the goroutines of all readings.
func TestFailedReadingsEnd(t *testing.T) {
	refreshing := func() int {
		stacks := make([]byte, 16<<20)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "created by github.com/MicahParks/jwkset")
	}
	before := refreshing()
	p := newProject(t)
	p.is(http.StatusNotFound)
	expect(t, p.verifier(), p.ec(nil), fault.Unavailable)
	for deadline := time.Now().Add(time.Minute); refreshing() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines refresh keys, %d before", refreshing(), before)
		}
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
