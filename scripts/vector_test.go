package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installer runs commands after the functions of postgres-install, in a copy with fake programs.
func installer(t *testing.T, fakes map[string]string, commands string) (output string, err error) {
	t.Helper()
	folder := t.TempDir()
	text, err := os.ReadFile("postgres-install")
	if err != nil {
		t.Fatal(err)
	}
	functions, _, found := strings.Cut(string(text), "\nbin=$(")
	if !found {
		t.Fatal("postgres-install does not begin its work with bin=")
	}
	apt, err := os.ReadFile("apt.sh")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "apt.sh"), string(apt))
	write(t, filepath.Join(folder, "run"), functions+"\n"+commands+"\n")
	for name, script := range fakes {
		write(t, filepath.Join(folder, "bin", name), "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(filepath.Join(folder, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "bash", filepath.Join(folder, "run"))
	command.Dir = folder
	command.Env = append(os.Environ(), "TASKLENS_LOCAL="+filepath.Join(folder, "local"), "PATH="+filepath.Join(folder, "bin")+":"+os.Getenv("PATH"))
	all, err := command.CombinedOutput()
	return string(all), err
}

// A running server has the old library mapped: its file must not change.
func TestReplacedFilesAreNew(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	library := filepath.Join(target, "vector.so")
	write(t, library, "old")
	mapped, err := os.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer mapped.Close()
	output, err := installer(t, map[string]string{"sudo": `exec "$@"`}, `target="`+target+`"; mkdir -p "built$target/sub"
		printf new >"built$target/vector.so"; printf sql >"built$target/sub/a b.sql"; printf control >"built$target/vector.control"
		chmod 755 "built$target/vector.so"; install_files "$PWD/built"`)
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	kept := make([]byte, 3)
	if _, err := mapped.Read(kept); err != nil || string(kept) != "old" {
		t.Errorf("the old file was written to: %q %v", kept, err)
	}
	for name, want := range map[string]string{"vector.so": "new", "sub/a b.sql": "sql", "vector.control": "control"} {
		if got, err := os.ReadFile(filepath.Join(target, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if info, err := os.Stat(library); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(target, "*.*[0-9]")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
