package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The service does not link development code, test code or a Postgres driver: it reaches the
// database through PostgREST.
func TestLinkedPackages(t *testing.T) {
	t.Parallel()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(output))
	if len(packages) < 100 {
		t.Fatalf("go list returned only %d packages", len(packages))
	}
	development := regexp.MustCompile(`^tasklens/scripts|/testbed|/apitest|^github\.com/jackc/|/httptest$`)
	for _, name := range packages {
		if development.MatchString(name) {
			t.Errorf("%s is linked", name)
		}
	}
}
