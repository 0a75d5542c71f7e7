// Package scripts tests what the shell scripts of this folder do to other programs of the machine.
package scripts

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stranger runs a program that looks like this command line, and is none of ours.
func stranger(t *testing.T, looks string) *exec.Cmd {
	t.Helper()
	command := exec.Command("bash", "-c", `exec -a "$0" sleep 600`, looks)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return command
}

// lives fails the test where a process was ended, or is about to be.
func lives(t *testing.T, stranger *exec.Cmd) {
	t.Helper()
	// Had it got another signal before, that would have ended it. Under nohup SIGHUP is ignored.
	if err := stranger.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Errorf("%s was ended: %v", stranger.Args[3], err)
	}
	_ = stranger.Wait()
	if status := stranger.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGUSR1 {
		t.Errorf("%s was ended: %v", stranger.Args[3], stranger.ProcessState)
	}
}

// shell runs commands with scripts/stack.sh, over a folder of the test's own, and returns what they
// print.
func shell(t *testing.T, local, commands string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-c", "set -euo pipefail; . ./stack.sh; "+commands)
	command.Env = append(os.Environ(), "TASKLENS_LOCAL="+local)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, output)
	}
	return strings.TrimSpace(string(output))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A number in an old pid file may be another program's by now, even one of the same name.
func TestStalePIDFileEndsNobody(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]string{"a number alone": "", "another start": " 1 of another day"} {
		local := t.TempDir()
		other := stranger(t, "redis-server *:6379")
		write(t, filepath.Join(local, "run", "redis.pid"), strconv.Itoa(other.Process.Pid)+when+"\n")
		shell(t, local, "end redis")
		lives(t, other)
		if _, err := os.Stat(filepath.Join(local, "run", "redis.pid")); !os.IsNotExist(err) {
			t.Errorf("%s: the stale file is still there: %v", name, err)
		}
	}
}

func TestStaleOwnerKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	local := t.TempDir()
	other := stranger(t, "vim demo ")
	write(t, filepath.Join(local, "run", "owner.pid"), strconv.Itoa(other.Process.Pid)+"\n")
	if got := shell(t, local, "clear_way && echo free"); got != "free" {
		t.Errorf("the stack says %q", got)
	}
}

// What was begun is ended by this script or by a later one, whatever its name is.
func TestBegunProcessIsEnded(t *testing.T) {
	t.Parallel()
	local := t.TempDir()
	terminated := strconv.Itoa(128 + int(syscall.SIGTERM))
	if got := shell(t, local, `mkdir -p "$run"; begin model sleep 600; pid=$!; end model; status=0; wait $pid || status=$?; echo $status`); got != terminated {
		t.Errorf("it ended with %s, want %s", got, terminated)
	}
	shell(t, local, `begin model sleep 600`)
	if got := shell(t, local, `process_of model`); got == "" {
		t.Error("a later script does not know the process")
	}
	if got := shell(t, local, `pid=$(process_of model); when=$(began $pid); end model; [ "$(began $pid)" = "$when" ] || echo ended`); got != "ended" {
		t.Errorf("a later script says %q", got)
	}
}

// A server's folder names a process, and its lock another: either may be a stranger's after a
// crash.
func TestPostgresEndsNobodyElse(t *testing.T) {
	t.Parallel()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(folder, "data")
	other := stranger(t, "tar -D "+data+" ")
	write(t, filepath.Join(data, "postmaster.pid"), strconv.Itoa(other.Process.Pid)+"\n")
	if err := os.Symlink(strconv.Itoa(other.Process.Pid), filepath.Join(folder, "lock")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if output, err := exec.CommandContext(ctx, "./postgres", "stop", folder).CombinedOutput(); err != nil {
		t.Errorf("stop: %v\n%s", err, output)
	}
	lives(t, other)
}

// The proxy before a PostgREST has the secret with which the rest of the stand-in checks tokens.
func TestProxyHasTheSecret(t *testing.T) {
	t.Parallel()
	got := shell(t, t.TempDir(), `mkdir -p "$local"; POSTGREST_BIN=true; lab=true; begin_rest() { :; }; address_of() { echo http://127.0.0.1:1; }
begin() { [ ${#JWT_SECRET} = 64 ] && echo "$1 has it"; }
start_rest`)
	if got != "gateway has it" {
		t.Errorf("it prints %q", got)
	}
}
