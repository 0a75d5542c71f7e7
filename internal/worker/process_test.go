package worker_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
	"tasklens/internal/tokenizer"
	"tasklens/internal/wait"
	"tasklens/internal/worker"
)

// This test binary is also the worker process of the randomised test, if these variables name its
// database.
const (
	urlVariable = "TASKLENS_TEST_WORKER_URL"
	keyVariable = "TASKLENS_TEST_WORKER_KEY"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(urlVariable); url != "" {
		beWorker(url, os.Getenv(keyVariable))
		return
	}
	os.Exit(m.Run())
}

// beWorker works until it is stopped or its parent has exited.
func beWorker(url, key string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	indexer := index.New(&model{before: flaky(rand.Uint64())}, tokenizer.Load())
	worker.New(postgrest.New(url, key, testbed.Schema()).AsService(), indexer, worker.Options{
		Concurrency: 3, Batch: 8, Lease: time.Second, Attempts: 4, Poll: 100 * time.Millisecond, Retry: 20 * time.Millisecond,
	}).Run(ctx)
}

// flaky is a provider with failures, limits and delays.
func flaky(seed uint64) func(context.Context, string, []string) error {
	var mutex sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	return func(ctx context.Context, _ string, _ []string) error {
		mutex.Lock()
		dice, pause := random.IntN(100), time.Duration(random.IntN(150))*time.Millisecond
		mutex.Unlock()
		if dice < 3 {
			pause = 2 * time.Second // longer than a lease
		}
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
		switch {
		case dice >= 90:
			return errors.New("the provider failed")
		case dice >= 85:
			limited := fault.New(fault.Unavailable, "The provider is limiting us.")
			limited.RetryAfter = pause
			return limited
		}
		return nil
	}
}

// process is a worker process that can be killed.
type process struct {
	command *exec.Cmd
	stdin   io.Closer
}

func (b *bench) spawn() (*process, error) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), urlVariable+"="+b.url, keyVariable+"="+b.key)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &process{command, stdin}, command.Start()
}

// end sends a signal and waits until the process has exited.
func (p *process) end(signal syscall.Signal) error {
	// A stopped process ends only by SIGKILL.
	if err := errors.Join(p.command.Process.Signal(signal), p.command.Process.Signal(syscall.SIGCONT)); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = p.command.Wait() // a killed process returns an error
	_ = p.stdin.Close()
	return nil
}
