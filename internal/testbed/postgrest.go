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
	// startTime is how long a PostgREST may take until it answers.
	startTime = 30 * time.Second
	// stopTime is how long it may take to end before it is killed.
	stopTime = 5 * time.Second
	// restConns is the size of a server's pool: tests run in parallel and share the cluster's connections.
	restConns = 6
	// restSecret signs the tokens of tests; it guards nothing.
	restSecret = "a-secret-for-tests-alone-0123456789abcdef"
)

// extraSearchPath is Supabase's, less public, which is a schema like others here.
var extraSearchPath = []string{"extensions"}

// REST serves the functions in schemas (public when none is given) over HTTP as Supabase does, until the test ends: by the real PostgREST where
// there is one, by our gateway elsewhere. baseURL + "/rpc/name" calls a function; secret signs tokens (HS256). The real one reads the catalogue
// when it starts, so create the functions before.
func REST(t testing.TB, db *DB, schemas ...string) (baseURL string, secret []byte) {
	t.Helper()
	if HasPostgREST() {
		return PostgREST(t, db, schemas...)
	}
	return Gateway(t, db, schemas...)
}

// HasPostgREST says whether the environment variable POSTGREST_BIN or the PATH leads to a PostgREST.
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

// Gateway is REST by our gateway, whatever else there is.
func Gateway(t testing.TB, db *DB, schemas ...string) (baseURL string, secret []byte) {
	t.Helper()
	g, err := gateway.New(context.Background(), gateway.Config{
		DatabaseURL:     db.AuthenticatorURL,
		JWTSecret:       []byte(restSecret),
		Schemas:         exposed(schemas),
		ExtraSearchPath: extraSearchPath,
		AnonRole:        "anon",
		MaxConns:        restConns,
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

// PostgREST is REST by the real one, which must be there.
func PostgREST(t testing.TB, db *DB, schemas ...string) (baseURL string, secret []byte) {
	t.Helper()
	return startPostgREST(t, postgrestPath(),
		"PGRST_DB_URI="+db.AuthenticatorURL,
		"PGRST_DB_SCHEMAS="+strings.Join(exposed(schemas), ","),
		"PGRST_DB_EXTRA_SEARCH_PATH="+strings.Join(extraSearchPath, ","),
		"PGRST_DB_ANON_ROLE=anon",
		fmt.Sprintf("PGRST_DB_POOL=%d", restConns),
		"PGRST_DB_CONFIG=false", // settings of the role in the database shall not change what is tested
		"PGRST_JWT_SECRET="+restSecret,
	), []byte(restSecret)
}

func exposed(schemas []string) []string {
	if len(schemas) == 0 {
		return []string{"public"}
	}
	return schemas
}

// startPostgREST runs the program until the test ends, with settings in its environment, and waits until it is ready. Between finding a free port
// and listening on it somebody else may take it, so it is tried again.
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
		defer l.Close() // both are held until both are found, or they could be one
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

type process struct {
	cmd    *exec.Cmd
	output bytes.Buffer // not to be read before ended
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
		_ = cmd.Wait() // how it ended is told by its output
	}()
	return p, nil
}

// waitReady asks the address until it answers 200, the process ends or startTime is over.
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
			return fmt.Errorf("it ended at once: %s", p.output.String())
		case <-deadline.C:
			return fmt.Errorf("not ready after %s", startTime)
		case <-again.C:
		}
	}
}

// stop ends the process, kindly at first, and returns when it is gone.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-p.ended:
	case <-time.After(stopTime):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}
