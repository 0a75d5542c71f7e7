package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"
)

// watchedProxy is an HTTP proxy that records the requested hosts.
type watchedProxy struct {
	url   string
	mutex sync.Mutex
	asked []string
}

func startProxy(t *testing.T) *watchedProxy {
	t.Helper()
	p := &watchedProxy{}
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: &http.Transport{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mutex.Lock()
		p.asked = append(p.asked, r.Method+" "+r.Host)
		p.mutex.Unlock()
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *watchedProxy) wasAsked(request string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Contains(p.asked, request)
}

// elsewhere is an address of this machine that Go does not treat as loopback, for which it never
// uses a proxy.
func elsewhere(address string) string { return strings.Replace(address, "127.0.0.1", "0.0.0.0", 1) }

func startKeySet(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) }))
	t.Cleanup(server.Close)
	return server.URL
}

// The database and the key set are reached through the proxy from the environment, unless NO_PROXY
// excepts their hosts.
func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	_, settings := startStack(t)
	database, keys := elsewhere(settings["SUPABASE_REST_URL"]), elsewhere(startKeySet(t))
	settings = with(settings, "SUPABASE_URL", database, "SUPABASE_REST_URL", database, "SUPABASE_JWKS_URL", keys, "AUTH", "on", "WORKER", "off")
	for noProxy, through := range map[string]bool{"": true, "example.com": true, "0.0.0.0": false, "*": false} {
		proxy := startProxy(t)
		p := startProgram(t, with(settings, "HTTP_PROXY", proxy.url, "NO_PROXY", noProxy))
		fetch(t, http.MethodGet, p.url+"/readyz", "", http.StatusOK)
		for _, request := range []string{"POST " + strings.TrimPrefix(database, "http://"), "GET " + strings.TrimPrefix(keys, "http://")} {
			if proxy.wasAsked(request) != through {
				t.Errorf("NO_PROXY %q: the proxy received %q, want %s: %t", noProxy, proxy.asked, request, through)
			}
		}
	}
}
