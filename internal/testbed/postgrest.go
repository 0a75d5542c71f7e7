package testbed

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"tasklens/scripts/lab/gateway"
)

const (
	// startTime limits the time until a PostgREST responds.
	startTime = 30 * time.Second
	// stopTime is the time from SIGTERM to SIGKILL.
	stopTime = 5 * time.Second
	// restConns is the pool size of a server: parallel tests share the cluster's connections.
	restConns = 6
	// restSecret signs the tokens of tests. It protects nothing.
	restSecret = "a-secret-for-tests-alone-0123456789abcdef"
)

// extraSearchPath is Supabase's without public, which is not treated specially here.
var extraSearchPath = []string{"extensions"}

// REST serves the functions in schemas (default: Schema) over HTTP as Supabase does, until the test
// ends: with the real PostgREST if installed, else with our gateway. baseURL + "/rpc/name" calls a
// function. secret signs tokens (HS256). The real one reads the catalogue at startup, so create
// functions first.
func REST(t testing.TB, db *DB, schemas ...string) (baseURL string, secret []byte) {
	t.Helper()
	if HasPostgREST() {
		return PostgREST(t, db, schemas...)
	}
	return Gateway(t, db, schemas...)
}

// HasPostgREST reports whether POSTGREST_BIN or the PATH has a PostgREST.
func HasPostgREST() bool {
	_, err := exec.LookPath(postgrestPath())
	return err == nil
}

func postgrestPath() string {
	if path := os.Getenv("POSTGREST_BIN"); path != "" {
		return path
	}
	return "postgrest"
}

// Gateway is REST, always with our gateway. The test fails if a response is cut: callers cannot see
// that rows are missing.
func Gateway(t testing.TB, db *DB, schemas ...string) (baseURL string, secret []byte) {
	t.Helper()
	g, err := gateway.New(context.Background(), gateway.Config{
		DatabaseURL:     db.AuthenticatorURL,
		JWTSecret:       []byte(restSecret),
		Schemas:         exposed(schemas),
		ExtraSearchPath: extraSearchPath,
		AnonRole:        "anon",
		MaxConns:        restConns,
		Served: func(function string, rows int64) {
			if rows > gateway.MaxRows {
				t.Errorf("the response of %s was cut: it has %d rows of %d", function, gateway.MaxRows, rows)
			}
			if db.Served != nil {
				db.Served(function, rows)
			}
		},
	})
	if err != nil {
		t.Fatalf("start gateway: %v", err)
	}
	server := httptest.NewServer(g)
	t.Cleanup(func() {
		server.Close()
		g.Close()
	})
	return server.URL, []byte(restSecret)
}

// PostgREST is REST with the real PostgREST, which must be installed.
func PostgREST(t testing.TB, db *DB, schemas ...string) (baseURL string, secret []byte) {
	t.Helper()
	return startPostgREST(t, postgrestPath(),
		"PGRST_DB_URI="+db.AuthenticatorURL,
		"PGRST_DB_SCHEMAS="+strings.Join(exposed(schemas), ","),
		"PGRST_DB_EXTRA_SEARCH_PATH="+strings.Join(extraSearchPath, ","),
		"PGRST_DB_ANON_ROLE=anon",
		fmt.Sprintf("PGRST_DB_POOL=%d", restConns),
		fmt.Sprintf("PGRST_DB_MAX_ROWS=%d", gateway.MaxRows),
		"PGRST_DB_CONFIG=false", // settings of a database role must not affect the test
		"PGRST_JWT_SECRET="+restSecret,
	), []byte(restSecret)
}

func exposed(schemas []string) []string {
	if len(schemas) == 0 {
		return []string{Schema()}
	}
	return schemas
}

// startPostgREST runs the program with these environment variables until the test ends, and waits
// until it is ready. It retries, because another process may take a free port before it listens
// there.
func startPostgREST(t testing.TB, program string, settings ...string) (baseURL string) {
	t.Helper()
	const attempts = 3
	var problem error
	for range attempts {
		var ports [2]int
		if ports, problem = freePorts(); problem != nil {
			continue
		}
		cmd := exec.Command(program)
		cmd.Env = append(append(os.Environ(), settings...),
			"PGRST_SERVER_HOST=127.0.0.1", fmt.Sprintf("PGRST_SERVER_PORT=%d", ports[0]),
			"PGRST_ADMIN_SERVER_HOST=127.0.0.1", fmt.Sprintf("PGRST_ADMIN_SERVER_PORT=%d", ports[1]))
		var p *process
		if p, problem = startProcess(cmd); problem != nil {
			continue
		}
		if problem = p.waitReady(fmt.Sprintf("http://127.0.0.1:%d/ready", ports[1])); problem != nil {
			p.stop()
			continue
		}
		t.Cleanup(p.stop)
		return fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	}
	t.Fatalf("start %s: %v", program, problem)
	return ""
}

func freePorts() (ports [2]int, err error) {
	for i := range ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return ports, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() // both stay open until both are found, so that they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

type process struct {
	cmd    *exec.Cmd
	output bytes.Buffer // read only after ended is closed
	ended  chan struct{}
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // the process's output shows how it ended
	}()
	return p, nil
}

// waitReady polls the address until it returns 200, the process exits or startTime is over.
func (p *process) waitReady(address string) error {
	client := &http.Client{Timeout: time.Second}
	deadline := time.NewTimer(startTime)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if response, err := client.Get(address); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended before it was ready: %s", p.output.String())
		case <-deadline.C:
			return fmt.Errorf("not ready after %s", startTime)
		case <-again.C:
		}
	}
}

// stop terminates the process and returns when it has exited.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have exited already
	select {
	case <-p.ended:
	case <-time.After(stopTime):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}
