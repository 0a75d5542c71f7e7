package limit_test

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tasklens/internal/limit"
	"tasklens/internal/testbed"
)

func newRedis(t *testing.T, url string, told *warnings) *limit.Limiter {
	t.Helper()
	r, err := limit.NewRedis(url, 2*time.Second, told.warn)
	if err != nil {
		t.Fatal(err)
	}
	return limit.New(limit.Policy{Requests: 1, Period: time.Hour}, r)
}

// warnings are the warnings of a Redis.
type warnings struct {
	mutex sync.Mutex
	texts []string
}

func (w *warnings) warn(message string, err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.texts = append(w.texts, fmt.Sprint(message, ": ", err))
}

func (w *warnings) count() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.texts)
}

// A Redis that hangs delays one request, then none, and is used again once it has recovered.
func TestRedisHangs(t *testing.T) {
	t.Parallel()
	url, process := testbed.Redis(t)
	told := &warnings{}
	limiter, other := newRedis(t, url, told), newRedis(t, url, &warnings{})
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	for i := range 1000 {
		if !limiter.Take(t.Context(), fmt.Sprint(i)).Allowed {
			t.Errorf("request %d is refused", i)
		}
	}
	// 1,000 commands of 2 s each would take half an hour.
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if told.count() != 1 {
		t.Errorf("warnings are %q, want one", told.texts)
	}
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	// What one counts in Redis, the other refuses.
	for i, end := 0, time.Now().Add(10*time.Second); ; i++ {
		caller := fmt.Sprint("again ", i)
		limiter.Take(t.Context(), caller)
		if !other.Take(t.Context(), caller).Allowed {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is not used again")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if told.count() != 1 {
		t.Errorf("warnings are %q, want one a minute", told.texts)
	}
}

func TestRedisUnavailable(t *testing.T) {
	t.Parallel()
	told := &warnings{}
	limiter := newRedis(t, "redis://user:the-password@127.0.0.1:1/0", told)
	if !limiter.Take(t.Context(), "a").Allowed || limiter.Take(t.Context(), "a").Allowed {
		t.Error("without Redis an instance does not count on its own")
	}
	if told.count() != 1 || strings.Contains(told.texts[0], "the-password") {
		t.Errorf("warnings are %q", told.texts)
	}
}

func TestRedisAddresses(t *testing.T) {
	t.Parallel()
	for url, is := range map[string]bool{
		"redis://127.0.0.1:6379": true, "rediss://user:secret@example.com:6380/2": true, "unix:///run/redis": true,
		"": false, "127.0.0.1:6379": false, "http://127.0.0.1": false, "redis://:secret@[": false,
	} {
		if limit.IsRedisURL(url) != is {
			t.Errorf("%q: %t", url, !is)
		}
		_, err := limit.NewRedis(url, time.Second, nil)
		if (err == nil) != is {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}
