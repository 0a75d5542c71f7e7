package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tasklens/scripts/lab/offline"
)

// The test binary runs as the program itself if this variable is set.
const programVariable = "TASKLENS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		os.Unsetenv(programVariable)
		main()
		return
	}
	os.Exit(m.Run())
}

// program is the program in its own process.
type program struct {
	command *exec.Cmd
	url     string
	log     bytes.Buffer
	ended   chan struct{}
	err     error // once it has exited
}

// startProgram starts `server serve` with these settings and waits until it listens.
func startProgram(t *testing.T, settings map[string]string) *program {
	t.Helper()
	return startCommand(t, exec.Command(os.Args[0], "serve"), settings)
}

// startCommand is startProgram with a command prepared by the test.
func startCommand(t *testing.T, command *exec.Cmd, settings map[string]string) *program {
	t.Helper()
	address := freePort(t)
	_, port, _ := net.SplitHostPort(address)
	p := &program{command: command, url: "http://" + address, ended: make(chan struct{})}
	p.command.Env = environment(with(settings, "PORT", port))
	p.command.Stderr = &p.log
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("the program's log:\n%s", &p.log)
		}
	})
	fetch(t, http.MethodGet, p.url+"/healthz", "", http.StatusOK)
	return p
}

// environment is that of the program with these settings.
func environment(settings map[string]string) []string {
	all := []string{programVariable + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	for name, value := range settings {
		all = append(all, name+"="+value)
	}
	return all
}

func (p *program) signal(t *testing.T) {
	t.Helper()
	p.send(t, syscall.SIGTERM)
}

func (p *program) send(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// awaitClosed waits until connections are refused.
func (p *program) awaitClosed(t *testing.T) {
	t.Helper()
	until(t, "the program still accepts connections", func() bool {
		connection, err := net.Dial("tcp4", strings.TrimPrefix(p.url, "http://"))
		return err != nil || connection.Close() != nil
	})
}

// awaitEnd waits until the process has exited.
func (p *program) awaitEnd(t *testing.T, within time.Duration) error {
	t.Helper()
	select {
	case <-p.ended:
		return p.err
	case <-time.After(within):
		t.Fatalf("the program has not ended within %v", within)
		return nil
	}
}

// heldModel is the offline model with responses that are held back until released, or forever.
type heldModel struct {
	url     string
	answers chan struct{} // when closed, responses complete
	asked   chan string   // the kind of response being held: answer, stream, embeddings
}

const heldText = "a text whose embedding never comes"

func startHeldModel(t *testing.T) *heldModel {
	t.Helper()
	m := &heldModel{answers: make(chan struct{}), asked: make(chan string, 100)}
	model := offline.NewHandler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		switch {
		case bytes.Contains(body, []byte(heldText)):
			m.asked <- "embeddings"
			<-r.Context().Done()
			return
		case strings.HasSuffix(r.URL.Path, "/embeddings"):
		case bytes.Contains(body, []byte(`"stream":true`)):
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm","content":"So it is "}}]}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
			m.asked <- "stream"
			<-r.Context().Done()
			return
		default:
			m.asked <- "answer"
			<-m.answers
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	m.url = server.URL + "/v1"
	return m
}

func (m *heldModel) await(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-m.asked:
		if got != want {
			t.Fatalf("the model was called for %s, want %s", got, want)
		}
	case <-time.After(time.Minute):
		t.Fatalf("the model was not called for %s", want)
	}
}

// On SIGTERM a service accepts no more requests, completes those in progress, ends its streams with
// an event, and releases its jobs, all within its shutdown time.
func TestServiceDrains(t *testing.T) {
	owner, settings := startStack(t)
	model := startHeldModel(t)
	const drain = 5 * time.Second
	p := startProgram(t, with(settings, "OPENAI_BASE_URL", model.url, "DRAIN_TIMEOUT", drain.String(),
		"LOG_FORMAT", "json", "LOG_LEVEL", "debug"))
	if _, err := owner.Exec(t.Context(), `insert into public.projects (key, name, description) values ('P', 'Pumps', 'Pumps leak at the valve')`); err != nil {
		t.Fatal(err)
	}
	await(t, owner, 1, `select count(*) from public.chunks`)
	await(t, owner, 0, `select count(*) from tasklens.embedding_jobs`)

	type result struct {
		status int
		text   string
		err    error
	}
	answered := make(chan result, 1)
	go func() {
		response, err := http.Post(p.url+"/api/query", "application/json", strings.NewReader(`{"question": "Where do pumps leak?", "match_threshold": 0}`))
		if err != nil {
			answered <- result{err: err}
			return
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		answered <- result{response.StatusCode, string(text), err}
	}()
	model.await(t, "answer")
	stream, err := http.Post(p.url+"/api/query", "application/json", strings.NewReader(`{"question": "Why do pumps leak?", "match_threshold": 0, "stream": true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	model.await(t, "stream")
	if _, err := owner.Exec(t.Context(), `update public.projects set description = $1`, heldText); err != nil {
		t.Fatal(err)
	}
	model.await(t, "embeddings")
	await(t, owner, 1, `select count(*) from tasklens.embedding_jobs where lease_id is not null`)

	told := time.Now()
	p.signal(t)
	p.awaitClosed(t)
	close(model.answers)
	if got := <-answered; got.status != http.StatusOK || !strings.Contains(got.text, `"answer"`) {
		t.Errorf("the request in progress at the signal: %+v", got)
	}
	// Long before anything in progress is cancelled.
	await(t, owner, 1, `select count(*) from tasklens.embedding_jobs where lease_id is null and due_at <= clock_timestamp() + interval '1 second'`)
	events, err := io.ReadAll(stream.Body)
	if last := strings.Split(strings.TrimSpace(string(events)), "\n\n"); err != nil || !strings.HasPrefix(last[len(last)-1], "event: error\ndata: ") || !strings.Contains(last[len(last)-1], `"status":503`) {
		t.Errorf("the stream ended with %v: %s", err, events)
	}
	if err := p.awaitEnd(t, time.Minute); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	if took := time.Since(told); took > drain+20*time.Second { // what is held would last for ever
		t.Errorf("shutdown took %v", took)
	}
	await(t, owner, 2, `select count(*) from tasklens.query_log`)
	for line := range strings.Lines(p.log.String()) {
		var read struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &read); err != nil || read.Level == "" || read.Msg == "" {
			t.Errorf("%v: %s", err, line)
		}
	}
	if !strings.Contains(p.log.String(), `"level":"DEBUG"`) || strings.Contains(p.log.String(), settings["SUPABASE_SECRET_KEY"]) {
		t.Errorf("the log is\n%s", &p.log)
	}
}

// silentDatabase accepts calls and never responds.
func silentDatabase(t *testing.T) (settings map[string]string, called <-chan struct{}) {
	t.Helper()
	calls := make(chan struct{}, 1000)
	var ending sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ending.Add(1)
		defer ending.Done()
		_, _ = io.Copy(io.Discard, bufio.NewReader(r.Body))
		select {
		case calls <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		ending.Wait()
	})
	return map[string]string{"SUPABASE_URL": server.URL, "SUPABASE_REST_URL": server.URL, "SUPABASE_SECRET_KEY": "k", "OPENAI_API_KEY": "k", "QUERY_LOG_RETENTION": "0"}, calls
}

// A second signal ends the service at once, however soon it comes. The two signals differ, because
// pending signals of the same kind are merged.
func TestSecondSignal(t *testing.T) {
	settings, called := silentDatabase(t)
	p := startProgram(t, with(settings, "WORKER", "off", "DRAIN_TIMEOUT", "10m", "REQUEST_TIMEOUT", "10m"))
	go func() {
		if response, err := http.Get(p.url + "/api/projects"); err == nil {
			_ = response.Body.Close()
		}
	}()
	<-called
	p.send(t, os.Interrupt)
	p.send(t, syscall.SIGTERM)
	var ended *exec.ExitError
	if err := p.awaitEnd(t, time.Minute); !errors.As(err, &ended) || ended.ExitCode() != 1 {
		t.Fatalf("the program ended with %v", err)
	}
}

// Out of descriptors, the service goes on as soon as other connections close.
func TestOutOfDescriptors(t *testing.T) {
	settings, _ := silentDatabase(t)
	p := startCommand(t, exec.Command("sh", "-c", `ulimit -n 48 && exec "$0" serve`, os.Args[0]), with(settings, "WORKER", "off"))
	var open []net.Conn
	for answered := true; answered; {
		if len(open) > 48 {
			t.Fatalf("%d connections are served with 48 descriptors", len(open))
		}
		connection, err := net.Dial("tcp4", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, connection)
		_ = connection.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.WriteString(connection, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		_, err = connection.Read(make([]byte, 1))
		answered = err == nil
	}
	for _, connection := range open {
		_ = connection.Close()
	}
	fetch(t, http.MethodGet, p.url+"/healthz", "", http.StatusOK)
}

// A worker whose database hangs stops within the configured time.
func TestWorkerThatHangs(t *testing.T) {
	settings, called := silentDatabase(t)
	setEnvironment(t, with(settings, "DRAIN_TIMEOUT", "100ms"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, nil) }()
	<-called
	told := time.Now()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(told); took > 8*time.Second { // a single call may take ten
		t.Errorf("shutdown took %v", took)
	}
}
