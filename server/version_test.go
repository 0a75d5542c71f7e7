package main

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// The newest heading of CHANGELOG.md is where the version of a release stands.
func TestClientHasTheVersionOfTheChangelog(t *testing.T) {
	t.Parallel()
	changelog, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) \(\d{4}-\d{2}-\d{2}\)$`).FindSubmatch(changelog)
	if newest == nil {
		t.Fatal("CHANGELOG.md has no heading such as: ## 0.1.0 (2026-11-25)")
	}
	text, err := os.ReadFile("client/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var client struct{ Version string }
	if err := json.Unmarshal(text, &client); err != nil || client.Version != string(newest[1]) {
		t.Errorf("client/package.json has the version %q, CHANGELOG.md %q: %v", client.Version, newest[1], err)
	}
}
