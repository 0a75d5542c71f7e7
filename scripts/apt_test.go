package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// install runs need with an apt-get of the test's own.
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

// Where something cannot be installed, apt's own words say why.
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

// Lists may be old, or there may be none yet.
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
