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

// address is the one that the documentation names the service by.
const address = "127.0.0.1:8080"

// patience is for one block.
const patience = 2 * time.Minute

// Run is a run of all examples.
type Run struct {
	Root    string // of the repository, where commands run
	Service string // host:port of the service that answers them
	// Elsewhere are the blocks that this run leaves out, with the reason: by file, a colon and the
	// block's first line.
	Elsewhere map[string]string
}

// Do runs the examples of files, which are named from the root, and writes what does not hold. It
// returns an error where anything doesn't.
func (r Run) Do(ctx context.Context, files []string, out io.Writer) error {
	used := map[string]bool{}
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
			case b.isStep(): // see Steps
			case b.isOutput():
				if i == 0 || !all[i-1].runs() && !all[i-1].isStep() {
					err = errors.New("it shows the output of no block")
				}
			case b.executable():
				name := file + ": " + b.name()
				if used[name] = true; r.Elsewhere[name] == "" {
					err = errors.New(`it is neither run (mark it "run") nor in the list of those that can't be`)
				}
			}
			if err != nil {
				wrong++
				fmt.Fprintf(out, "%s:%d: %s: %v\n", file, b.line, b.name(), err)
			}
		}
	}
	for name := range r.Elsewhere {
		if !used[name] {
			wrong++
			fmt.Fprintf(out, "%s: there is no such block, but it is in the list of those that can't be run\n", name)
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d examples do not hold", wrong)
	}
	if ran == 0 {
		return errors.New("there is no example")
	}
	fmt.Fprintf(out, "%d examples hold\n", ran)
	return nil
}

// executable says whether a reader would copy the block to run it.
func (b block) executable() bool {
	language, _, _ := strings.Cut(b.info, " ")
	switch language {
	case "sh", "bash", "console", "sql", "json", "js", "ts", "javascript", "typescript", "nginx", "yaml":
		return true
	}
	return false
}

func (r Run) try(ctx context.Context, b block, shown *block) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text := strings.ReplaceAll(b.text, address, r.Service)
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	if b.info == runSQL {
		// As a reader would in the demo, but that nothing of it stays.
		command = exec.CommandContext(ctx, "scripts/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1")
		command.Stdin = strings.NewReader("begin;\n" + text + "\n;\nrollback;\n")
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
