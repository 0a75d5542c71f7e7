package testbed

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Redis starts a real Redis without persistence, which ends with the test. url is for clients.
// Tests may stop or kill the process.
func Redis(t testing.TB) (url string, process *os.Process) {
	t.Helper()
	// Not in t.TempDir: a socket's path is limited to 107 bytes.
	folder, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "socket")
	command := exec.CommandContext(context.Background(), "redis-server", "--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "", "--appendonly", "no")
	if err := command.Start(); err != nil {
		t.Fatalf("start Redis: %v", err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = os.RemoveAll(folder)
	})
	for end := time.Now().Add(startTime); ; time.Sleep(10 * time.Millisecond) {
		connection, err := net.Dial("unix", socket)
		if err == nil {
			_ = connection.Close()
			return "unix://" + socket, command.Process
		}
		if time.Now().After(end) {
			t.Fatalf("Redis does not respond: %v", err)
		}
	}
}
