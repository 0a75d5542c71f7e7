package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestHealth(t *testing.T) {
	status, path := http.StatusOK, ""
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		w.WriteHeader(status)
	}))
	address, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	setEnvironment(t, with(onlyNeeded, "HOST", "127.0.0.1", "PORT", address.Port()))
	if err := checkHealth(t.Context(), nil); err != nil || path != "/healthz" {
		t.Errorf("requested path is %q: %v", path, err)
	}
	status = http.StatusServiceUnavailable
	if err := checkHealth(t.Context(), nil); err == nil {
		t.Error("a service that returns 503 is reported as healthy")
	}
	service.Close()
	if err := checkHealth(t.Context(), nil); err == nil {
		t.Error("a stopped service is reported as healthy")
	}
}
