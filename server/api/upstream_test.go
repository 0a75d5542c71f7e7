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

// upstreamText stands in what failing upstreams say, and must never come through to a client.
const upstreamText = "words of the upstream"

// upstream stands before a database or a model, where its requests can be watched, held up and
// answered otherwise.
type upstream struct {
	url    string
	inner  http.Handler
	mutex  sync.Mutex
	seen   []seen
	before hook
	after  func(name string)
}

// seen is a request that came through: the last part of its path (embeddings, completions, or a
// function's name).
type seen struct {
	name   string
	header http.Header
	body   []byte
}

// hook may answer a request itself, and then returns true.
type hook func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool

func watchDatabase(t testing.TB, restURL string) *upstream {
	t.Helper()
	target, err := url.Parse(restURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
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
	before, after := u.before, u.after
	u.mutex.Unlock()
	if before != nil && before(w, r, name, body) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.inner.ServeHTTP(w, r)
	if after != nil {
		after(name)
	}
}

// intercept lets a hook see every request first.
func (u *upstream) intercept(before hook) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.before = before
}

// then has a function called after every request that was passed on.
func (u *upstream) then(after func(name string)) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.after = after
}

// answer has all requests of a name answered with a status and a body, and headers in pairs.
func (u *upstream) answer(name string, status int, body string, headers ...string) {
	u.intercept(func(w http.ResponseWriter, _ *http.Request, asked string, _ []byte) bool {
		if asked != name {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	})
}

// hang has requests of a name wait until the service gives up.
func (u *upstream) hang(name string) {
	u.intercept(func(_ http.ResponseWriter, r *http.Request, asked string, _ []byte) bool {
		if asked == name {
			<-r.Context().Done()
		}
		return asked == name
	})
}

// requests are those of a name so far.
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

// inputs are the texts that the model was asked to embed so far.
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

// all are the requests so far.
func (u *upstream) all() []seen {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.seen[:len(u.seen):len(u.seen)]
}
