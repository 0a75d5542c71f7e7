package bench

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// proc creates a /proc with these files.
func proc(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestTimesOfProcessesWithTheirChildren(t *testing.T) {
	t.Parallel()
	processes := []Process{{"Postgres", 10}, {"service", 20}, {"gone", 30}, {"unknown", 0}}
	before := cpuTimes(proc(t, map[string]string{
		"stat":    "cpu  100 0 50 9000 700 5 5 40 30 0\ncpu0 1 2 3\n",
		"10/stat": "10 (post) (gres) S 1 10 10 0 -1 0 0 0 0 0 100 20 300 40 20 0 1 0 5 0 0",
		"11/stat": "11 (backend) R 10 10 10 0 -1 0 0 0 0 0 7 3 900 900 20 0 1 0 5 0 0",
		"20/stat": "20 (server) S 1 20 20 0 -1 0 0 0 0 0 50 50 0 0 20 0 1 0 5 0 0",
		"30/stat": "30 (short) S 1",
	}), processes)
	if before["Postgres"] != 4.7 || before["service"] != 1 || before[everything] != 1.6 || before[stolen] != 0.4 || len(before) != 4 {
		t.Errorf("read %v", before)
	}
	// The backend has exited: its time now counts for its parent.
	after := cpuTimes(proc(t, map[string]string{
		"stat":    "cpu  300 0 50 9100 700 5 5 60 30 0\n",
		"10/stat": "10 (post) (gres) S 1 10 10 0 -1 0 0 0 0 0 100 20 320 60 20 0 1 0 5 0 0",
		"20/stat": "20 (server) S 1 20 20 0 -1 0 0 0 0 0 150 50 0 0 20 0 1 0 5 0 0",
	}), processes)
	if got, want := cores(before, after, 2*time.Second, processes), []string{"0.15", "0.50", "–", "–", "1.00", "0.10"}; !slices.Equal(got, want) {
		t.Errorf("processors in use: %q, want %q", got, want)
	}
}

func TestNothingIsToldWithoutProc(t *testing.T) {
	t.Parallel()
	if got := cpuTimes(t.TempDir(), []Process{{"service", 1}}); len(got) != 0 {
		t.Errorf("read %v", got)
	}
}
