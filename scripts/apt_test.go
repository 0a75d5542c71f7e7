package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// install runs need with a fake apt-get.
func install(t *testing.T, aptGet string) (output string, err error) {
	t.Helper()
	local := t.TempDir()
	for name, script := range map[string]string{"apt-get": aptGet, "sudo": `exec "$@"`, "dpkg-query": "exit 1"} {
		if err := os.WriteFile(filepath.Join(local, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", `set -euo pipefail
say() { echo "$*" >&2; }
die() { say "$*"; exit 1; }
. ./apt.sh
need "$TASKLENS_LOCAL/the-tool" the-package
echo it is there`)
	command.Env = append(os.Environ(), "TASKLENS_LOCAL="+local, "PATH="+local+":"+os.Getenv("PATH"))
	text, err := command.CombinedOutput()
	return string(text), err
}

// If a package cannot be installed, apt's own error is shown.
func TestFailedInstallationSaysWhy(t *testing.T) {
	t.Parallel()
	output, err := install(t, `case "$*" in *install*) echo "E: Unable to locate package the-package"; exit 100 ;; esac`)
	if err == nil || !strings.Contains(output, "E: Unable to locate package the-package") || !strings.Contains(output, "install.log") {
		t.Errorf("%v: %s", err, output)
	}
	output, err = install(t, `echo "E: Could not resolve deb.example.com"; exit 100`)
	if err == nil || !strings.Contains(output, "E: Could not resolve deb.example.com") {
		t.Errorf("%v: %s", err, output)
	}
}

// Package lists may be outdated or missing.
func TestInstallationReadsTheListsOnce(t *testing.T) {
	t.Parallel()
	output, err := install(t, `cd "$TASKLENS_LOCAL"; case "$*" in *update*) touch lists ;; *install*) [ -e lists ] && touch the-tool ;; esac`)
	if err != nil || !strings.Contains(output, "it is there") {
		t.Errorf("%v: %s", err, output)
	}
	output, err = install(t, `exit 0`)
	if err == nil || !strings.Contains(output, "the-tool is missing, though the-package is installed") {
		t.Errorf("%v: %s", err, output)
	}
}
