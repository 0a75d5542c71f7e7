package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"sync"
	"testing"

	"tasklens/scripts/lab/offline"
)

// upstreamText is part of failing upstreams' responses, and must never reach a client.
const upstreamText = "words of the upstream"

// upstream is a proxy before a database or a model that records requests and can delay or replace
// responses.
type upstream struct {
	url    string
	inner  http.Handler
	mutex  sync.Mutex
	seen   []seen
	before hook
}

// seen is a recorded request: name is the last part of its path (embeddings, completions, or a
// function's name).
type seen struct {
	name   string
	header http.Header
	body   []byte
}

// hook may respond to a request itself, and then returns true.
type hook func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool

func watchDatabase(t testing.TB, restURL string) *upstream {
	t.Helper()
	target, err := url.Parse(restURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	// PostgREST resets a connection on which it refused a long body, and a proxy cannot repeat.
	proxy.Transport = &http.Transport{DisableKeepAlives: true}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	return watch(t, proxy)
}

func watchModel(t testing.TB) *upstream {
	t.Helper()
	return watch(t, offline.NewHandler())
}

func watch(t testing.TB, inner http.Handler) *upstream {
	u := &upstream{inner: inner}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	u.url = server.URL
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the service hung up
	}
	name := path.Base(r.URL.Path)
	u.mutex.Lock()
	u.seen = append(u.seen, seen{name, r.Header.Clone(), body})
	before := u.before
	u.mutex.Unlock()
	if before != nil && before(w, r, name, body) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.inner.ServeHTTP(w, r)
}

// intercept calls a hook before every request.
func (u *upstream) intercept(before hook) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.before = before
}

// answer sets the response to all requests of a name; headers are pairs. Lists have one page.
func (u *upstream) answer(name string, status int, body string, headers ...string) {
	u.intercept(func(w http.ResponseWriter, _ *http.Request, asked string, given []byte) bool {
		if asked != name {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		if isNextPage(given) {
			_, _ = io.WriteString(w, "[]")
		} else {
			_, _ = io.WriteString(w, body)
		}
		return true
	})
}

// isNextPage reports whether a request asks for the rows after those of an earlier one.
func isNextPage(body []byte) bool { return bytes.Contains(body, []byte(`"after":`)) }

// hang blocks requests of a name until the service gives up.
func (u *upstream) hang(name string) {
	u.intercept(func(_ http.ResponseWriter, r *http.Request, asked string, _ []byte) bool {
		if asked == name {
			<-r.Context().Done()
		}
		return asked == name
	})
}

// requests returns the requests of a name so far.
func (u *upstream) requests(name string) (found []seen) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for _, s := range u.seen {
		if s.name == name {
			found = append(found, s)
		}
	}
	return found
}

// inputs returns the texts that the model was asked to embed so far.
func (u *upstream) inputs(t testing.TB) (texts []string) {
	t.Helper()
	for _, request := range u.requests("embeddings") {
		var body struct{ Input []string }
		if err := json.Unmarshal(request.body, &body); err != nil {
			t.Fatalf("embeddings request: %v", err)
		}
		texts = append(texts, body.Input...)
	}
	return texts
}

// all returns the requests so far.
func (u *upstream) all() []seen {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.seen[:len(u.seen):len(u.seen)]
}
