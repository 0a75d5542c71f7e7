package main

import (
	"errors"
	"testing"
)

// Without DATABASE_URL a driver would use PGHOST's database or the local default.
func TestDatabaseMustBeNamed(t *testing.T) {
	t.Parallel()
	if err := serveGateway(t.Context(), settings{}, nil); !errors.Is(err, errNoDatabase) {
		t.Errorf("gateway: %v", err)
	}
}
