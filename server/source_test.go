package main

import (
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"

	"tasklens/internal"
	"tasklens/internal/testbed"
)

// No package is deeper than the patterns of the embedded sources.
func TestSourceIsWhole(t *testing.T) {
	t.Parallel()
	for folder, embedded := range map[string]fs.FS{".": source, "../internal": internal.Source} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || path == "../internal/source.go" {
				return err
			}
			name, err := filepath.Rel(folder, path)
			if err != nil {
				return err
			}
			if _, err := fs.Stat(embedded, filepath.ToSlash(name)); err != nil {
				t.Errorf("%s is not among the embedded sources: %v", path, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// copySource copies the sources of the program.
func copySource(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, part := range []string{"internal", "server", "supabase"} {
		if err := os.CopyFS(filepath.Join(folder, part), os.DirFS(filepath.Join("..", part))); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func build(t *testing.T, folder, cgo string, options ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "server")
	command := exec.CommandContext(t.Context(), "go", append(append([]string{"build"}, options...), "-o", program, "./server")...)
	command.Dir, command.Env = folder, append(os.Environ(), "CGO_ENABLED="+cgo)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return program
}

// Instances share the cache if they were built from the same source, however and wherever.
func TestBuildsOfOneSourceShareTheCache(t *testing.T) {
	t.Parallel()
	programs := []string{build(t, "..", "0", "-buildvcs=false"), build(t, copySource(t), "1", "-race")}
	owner, settings := startStack(t)
	redis, _ := testbed.Redis(t)
	if _, err := owner.Exec(t.Context(), `insert into public.projects (key, name) values ('P', 'Pumps')`); err != nil {
		t.Fatal(err)
	}
	for i, program := range programs {
		p := startCommand(t, exec.Command(program, "serve"), with(settings, "REDIS_URL", redis, "WORKER", "off", "MATCH_THRESHOLD", "0.7"))
		response := fetch(t, http.MethodPost, p.url+"/api/hybrid-search", `{"query": "pumps"}`, http.StatusOK)
		if cached := strings.Contains(response, `"cached":true`); cached != (i > 0) {
			t.Errorf("build %d: cached is %t: %s", i, cached, response)
		}
	}
}

func TestSourceDigest(t *testing.T) {
	t.Parallel()
	folder := func(files ...string) fs.FS {
		out := fstest.MapFS{}
		for i := 0; i < len(files); i += 2 {
			out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		}
		return out
	}
	seen := map[string]string{}
	for name, c := range map[string]struct {
		dependencies []*debug.Module
		folder       fs.FS
	}{
		"one file":             {nil, folder("a/b.go", "package b")},
		"another text":         {nil, folder("a/b.go", "package c")},
		"another name":         {nil, folder("a/c.go", "package b")},
		"two files":            {nil, folder("a/b.go", "package b", "a/c.go", "package b")},
		"a dependency":         {[]*debug.Module{{Path: "d", Version: "v1"}}, folder("a/b.go", "package b")},
		"the next version":     {[]*debug.Module{{Path: "d", Version: "v2"}}, folder("a/b.go", "package b")},
		"what replaces it":     {[]*debug.Module{{Path: "d", Version: "v1", Replace: &debug.Module{Path: "e"}}}, folder("a/b.go", "package b")},
		"the text in the name": {nil, folder("a/b.gopackage b", "")},
	} {
		digest, err := digestOf(c.dependencies, c.folder)
		if err != nil {
			t.Fatal(err)
		}
		if other, is := seen[digest]; is {
			t.Errorf("%s gives the same source version as %s", name, other)
		}
		seen[digest] = name
	}
	digest, err := digestOf(nil, folder("a/b.go", "package b", "a/b_test.go", "package b"))
	if err != nil || seen[digest] != "one file" {
		t.Errorf("adding a test changes the source version: %v", err)
	}
}
