package shared_test

import (
	"bytes"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/memo"
	"tasklens/internal/shared"
	"tasklens/internal/testbed"
)

// store is what both kinds are.
type store interface {
	memo.Store
	Close() error
}

// stores returns an empty store of each kind.
func stores(t *testing.T) map[string]store {
	t.Helper()
	url, _ := testbed.Redis(t)
	return map[string]store{"memory": newMemory(t, 1<<20), "redis": newRedis(t, url, &warnings{})}
}

func newMemory(t *testing.T, bytes int64) *shared.Memory {
	t.Helper()
	m, err := shared.NewMemory(bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, m) })
	return m
}

func newRedis(t *testing.T, url string, told *warnings) *shared.Redis {
	t.Helper()
	r, err := shared.NewRedis(url, 2*time.Second, told.warn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, r) })
	return r
}

func closeStore(t *testing.T, s store) {
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// warnings are the warnings of a store.
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

func expect(t *testing.T, s store, key, want string) {
	t.Helper()
	if value, found := s.Get(t.Context(), key); string(value) != want || found != (want != "") {
		t.Errorf("%s is %q (%t), want %q", key, value, found, want)
	}
}

func TestStoreReturnsWhatWasSet(t *testing.T) {
	t.Parallel()
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			expect(t, s, "a", "")
			s.Set(t.Context(), "a", []byte("1"), time.Hour)
			s.Set(t.Context(), "b", []byte{0, 255, '\n'}, time.Hour)
			expect(t, s, "a", "1")
			expect(t, s, "b", "\x00\xff\n")
			s.Set(t.Context(), "a", []byte("2"), time.Hour)
			expect(t, s, "a", "2")
			expect(t, s, "c", "")
		})
	}
}

func TestMemoryExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, err := shared.NewMemory(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		defer closeStore(t, m)
		m.Set(t.Context(), "short", []byte("1"), time.Minute)
		m.Set(t.Context(), "long", []byte("2"), time.Hour)
		time.Sleep(5 * time.Minute)
		expect(t, m, "short", "")
		expect(t, m, "long", "2")
	})
}

func TestRedisExpires(t *testing.T) {
	t.Parallel()
	url, _ := testbed.Redis(t)
	r := newRedis(t, url, &warnings{})
	r.Set(t.Context(), "short", []byte("1"), time.Millisecond)
	r.Set(t.Context(), "long", []byte("2"), time.Hour)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, found := r.Get(t.Context(), "short"); !found {
			break
		}
		if time.Now().After(end) {
			t.Fatal("what should last a millisecond is there after seconds")
		}
	}
	expect(t, r, "long", "2")
}

// The size stays bounded however much is stored, and however large the values.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const bound = 1 << 20
	m := newMemory(t, bound)
	key := func(i int) string { return fmt.Sprintf("key %d", i) }
	for i := range 500 {
		m.Set(t.Context(), key(i), bytes.Repeat([]byte{'x'}, 20_000), time.Hour)
	}
	m.Set(t.Context(), "too large", make([]byte, 2*bound), time.Hour)
	held := func() (sum int) {
		for i := range 500 {
			value, _ := m.Get(t.Context(), key(i))
			sum += len(value)
		}
		value, _ := m.Get(t.Context(), "too large")
		return sum + len(value)
	}
	// Eviction runs in the background.
	end := time.Now().Add(10 * time.Second)
	for held() > bound && time.Now().Before(end) {
		time.Sleep(time.Millisecond)
	}
	if sum := held(); sum > bound || sum == 0 {
		t.Errorf("%d bytes are kept, want some and at most %d", sum, bound)
	}
}

// A Redis that hangs delays one call, then none, and is used again once it has recovered.
func TestRedisHangs(t *testing.T) {
	t.Parallel()
	url, process := testbed.Redis(t)
	told := &warnings{}
	r := newRedis(t, url, told)
	r.Set(t.Context(), "a", []byte("1"), time.Hour)
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	for range 1000 {
		expect(t, r, "a", "")
		r.Set(t.Context(), "b", []byte("1"), time.Hour)
	}
	// 2,000 commands of 50 ms each would take 100 s.
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if told.count() != 1 {
		t.Errorf("warnings are %q, want one", told.texts)
	}
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if value, found := r.Get(t.Context(), "a"); found && string(value) == "1" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is not used again")
		}
	}
	if told.count() != 1 {
		t.Errorf("warnings are %q, want one a minute", told.texts)
	}
}

func TestRedisUnavailable(t *testing.T) {
	t.Parallel()
	told := &warnings{}
	r := newRedis(t, "redis://user:the-password@127.0.0.1:1/0", told)
	r.Set(t.Context(), "a", []byte("1"), time.Hour)
	expect(t, r, "a", "")
	if told.count() != 1 || bytes.Contains([]byte(told.texts[0]), []byte("the-password")) {
		t.Errorf("warnings are %q", told.texts)
	}
}

func TestRedisAddresses(t *testing.T) {
	t.Parallel()
	for url, is := range map[string]bool{
		"redis://127.0.0.1:6379": true, "rediss://user:secret@example.com:6380/2": true, "unix:///run/redis": true,
		"": false, "127.0.0.1:6379": false, "http://127.0.0.1": false, "redis://:secret@[": false,
	} {
		if shared.IsRedisURL(url) != is {
			t.Errorf("%q: %t", url, !is)
		}
		r, err := shared.NewRedis(url, time.Second, nil)
		if (err == nil) != is {
			t.Errorf("%q: %v", url, err)
		}
		if err == nil {
			closeStore(t, r)
		} else if bytes.Contains([]byte(err.Error()), []byte("secret")) {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}
