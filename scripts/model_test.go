package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where there is no pip, or no network, scripts/model says so and leaves nothing behind that passes
// for the model; the demo then compares words.
func TestModelThatCannotBeFetched(t *testing.T) {
	t.Parallel()
	for name, pip := range map[string]string{
		"pip is missing":            "",
		"pip cannot fetch it":       "[ \"$1\" = --version ] || { touch \"$(printf '%s\\n' \"$@\" | grep -A1 -e --dest | tail -n 1)/half.whl\"; exit 1; }",
		"ONNX Runtime does not run": "exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools, folder := t.TempDir(), filepath.Join(t.TempDir(), "model")
			for _, tool := range []string{"bash", "cat", "cmp", "cp", "dirname", "env", "grep", "mkdir", "rm", "sed", "tail", "touch", "uname"} {
				path, err := exec.LookPath(tool)
				if err != nil {
					t.Skip(err)
				}
				if err := os.Symlink(path, filepath.Join(tools, tool)); err != nil {
					t.Fatal(err)
				}
			}
			if pip != "" {
				if err := os.WriteFile(filepath.Join(tools, "pip3"), []byte("#!/usr/bin/env bash\n"+pip+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			arguments := []string{"./model", folder}
			if strings.HasPrefix(name, "ONNX") {
				arguments = append(arguments, "Plan9", "mips")
			}
			command := exec.Command("bash", arguments...)
			command.Env = []string{"PATH=" + tools, "TASKLENS_LOCAL=" + t.TempDir()}
			output, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(output), name) {
				t.Errorf("it ends with %v and says %q", err, output)
			}
			if _, err := os.Stat(filepath.Join(folder, "model.txt")); err == nil {
				t.Error("it says that the model is there")
			}
		})
	}
}
