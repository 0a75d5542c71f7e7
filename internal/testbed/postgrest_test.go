package testbed

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// init turns the test binary into a fake PostgREST that responds with its settings, so that
// startPostgREST has a program to start.
func init() {
	if os.Getenv("FAKE_POSTGREST") == "" {
		return
	}
	address := func(setting string) string {
		return os.Getenv("PGRST_"+setting+"_HOST") + ":" + os.Getenv("PGRST_"+setting+"_PORT")
	}
	if message := os.Getenv("FAKE_POSTGREST_FAILURE"); message != "" {
		fmt.Fprintln(os.Stderr, message)
		os.Exit(1)
	}
	asked := 0
	go func() {
		_ = http.ListenAndServe(address("ADMIN_SERVER"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked < 3 || r.URL.Path != "/ready" { // not ready at first, like the real one
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
	}()
	_ = http.ListenAndServe(address("SERVER"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.URL.Path, " ", os.Getenv("PGRST_DB_SCHEMAS"))
	}))
	os.Exit(1)
}

func TestStartPostgREST(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var baseURL string
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	t.Run("while the test runs", func(t *testing.T) {
		baseURL = startPostgREST(t, program, "FAKE_POSTGREST=1", "PGRST_DB_SCHEMAS=golden")
		response, err := client.Get(baseURL + "/rpc/x")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || string(body) != "/rpc/x golden" {
			t.Fatalf("the response is %q, %v", body, err)
		}
	})
	if response, err := client.Get(baseURL + "/rpc/x"); err == nil {
		_ = response.Body.Close()
		t.Fatal("it still responds after its test")
	}
}

func TestStartPostgRESTFails(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	failure := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // Fatalf ends the goroutine
		defer close(done)
		startPostgREST(failure, program, "FAKE_POSTGREST=1", "FAKE_POSTGREST_FAILURE=no such role")
	}()
	<-done
	if !strings.Contains(failure.message, "no such role") {
		t.Fatalf("the failure %q does not contain the program's output", failure.message)
	}
}

// recorder is a testing.TB that records its failure.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
