package examples

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// address is the service's address in the documentation.
const address = "127.0.0.1:8080"

// patience is the timeout of one block.
const patience = 2 * time.Minute

// leftOut is the status with which scripts/python says that this machine has no Python.
const leftOut = 77

// Run is a run of all examples.
type Run struct {
	Root    string // root of the repository, where commands run
	Service string // host:port of the service that the examples call
}

// Do runs the examples of files, given relative to the root, and prints failures. It returns an
// error if there are any.
func (r Run) Do(ctx context.Context, files []string, out io.Writer) error {
	ran, wrong := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(r.Root, file))
		if err != nil {
			return err
		}
		all := blocks(string(text))
		for i, b := range all {
			var err error
			switch {
			case b.runs():
				ran++
				var shown *block
				if i+1 < len(all) && all[i+1].isOutput() {
					shown = &all[i+1]
				}
				err = r.try(ctx, b, shown)
				if ended, is := errors.AsType[*exec.ExitError](err); is && ended.ExitCode() == leftOut {
					err = nil
					fmt.Fprintf(out, "%s:%d: left out without Python\n", file, b.line)
				}
			case b.isOutput() && (i == 0 || !all[i-1].runs() && !all[i-1].isStep()): // see Steps
				err = errors.New("it is an output without a block that prints it")
			}
			if err != nil {
				wrong++
				fmt.Fprintf(out, "%s:%d: %s: %v\n", file, b.line, b.name(), err)
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d examples failed", wrong)
	}
	if ran == 0 {
		return errors.New("no examples found")
	}
	fmt.Fprintf(out, "%d examples passed\n", ran)
	return nil
}

func (r Run) try(ctx context.Context, b block, shown *block) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text := strings.ReplaceAll(b.text, address, r.Service)
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	if b.info == runSQL {
		// As a reader would in the demo, except that nothing is committed.
		command = exec.CommandContext(ctx, "scripts/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1")
		command.Stdin = strings.NewReader("begin;\n" + text + "\n;\nrollback;\n")
	}
	if b.info == runPython {
		command = exec.CommandContext(ctx, "scripts/python", "-")
		command.Stdin = strings.NewReader(text)
	}
	output, err := r.output(command)
	switch {
	case err != nil || shown == nil:
		return err
	case shown.info == outputJSON:
		return sameJSON(shown.text, output)
	}
	return sameText(strings.ReplaceAll(shown.text, address, r.Service), output)
}

func (r Run) output(command *exec.Cmd) (string, error) {
	command.Dir = r.Root
	var output, failure bytes.Buffer
	command.Stdout, command.Stderr = &output, &failure
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%w: %s%s", err, failure.String(), output.String())
	}
	return output.String(), nil
}
