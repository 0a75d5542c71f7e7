package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tasklens/server/api"
)

// dial opens a connection to a program.
func (p *program) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp4", strings.TrimPrefix(p.url, "http://"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}

// ask sends a request on a connection and returns the status, or 0 if the connection closes without
// a response.
func ask(conn net.Conn) (status int, err error) {
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// descriptors returns the number of descriptors that a program has open.
func (p *program) descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(p.command.Process.Pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// awaitResponse opens connections until one gets a response.
func (p *program) awaitResponse(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn := p.dial(t)
		status, err := ask(conn)
		_ = conn.Close()
		if status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a new connection got status %d, %v", status, err)
		}
	}
}

func (p *program) stop(t *testing.T) {
	t.Helper()
	p.signal(t)
	if err := p.awaitEnd(t, time.Minute); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

// Out of descriptors, a service still serves its open connections, and new ones as soon as it can.
func TestOutOfDescriptors(t *testing.T) {
	t.Parallel()
	settings, _ := silentDatabase(t)
	p := startProgram(t, with(settings, "WORKER", "off"))
	const room, more = 20, 200
	served := p.dial(t)
	if status, err := ask(served); status != http.StatusOK {
		t.Fatalf("%d, %v", status, err)
	}
	limit := p.descriptors(t) + room
	if err := unix.Prlimit(p.command.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)}, nil); err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	for range more {
		conns = append(conns, p.dial(t))
	}
	for deadline := time.Now().Add(time.Minute); p.descriptors(t) < limit; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors of %d are open", p.descriptors(t), limit)
		}
	}
	if status, err := ask(served); status != http.StatusOK {
		t.Errorf("on an open connection: status %d, %v", status, err)
	}
	for _, conn := range conns[:more-1] {
		_ = conn.Close()
	}
	if status, err := ask(conns[more-1]); status != http.StatusOK {
		t.Errorf("on a connection that waited: status %d, %v", status, err)
	}
	p.awaitResponse(t)
	p.stop(t)
	if !strings.Contains(p.log.String(), "too many open files") {
		t.Error("the log does not mention the descriptor limit")
	}
}

// A service with a low descriptor limit lowers its number of connections, logs that, and never runs
// out of descriptors.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	const limit, more = 400, 1000
	settings, _ := silentDatabase(t)
	command := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" serve`, limit), os.Args[0])
	p := startCommand(t, command, with(settings, "WORKER", "off"))
	const most = limit / 2
	statuses := map[int]int{}
	var conns []net.Conn
	for range more {
		conn := p.dial(t)
		status, err := ask(conn)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("after %v a connection waits", statuses)
		}
		statuses[status]++
		conns = append(conns, conn)
	}
	// Waiting for the program to listen may have used a connection or two.
	if ok := statuses[http.StatusOK]; ok > most || ok < most-2 || statuses[http.StatusServiceUnavailable] == 0 || len(statuses) > 3 {
		t.Errorf("answered with %v, where %d may be served", statuses, most)
	}
	if open := p.descriptors(t); open > most+api.MaxRefusals+64 {
		t.Errorf("%d descriptors are open", open)
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	p.awaitResponse(t)
	p.stop(t)
	if log := p.log.String(); strings.Contains(log, "too many open files") || !strings.Contains(log, "fewer connections than usual") {
		t.Errorf("the log is\n%s", log)
	}
}
