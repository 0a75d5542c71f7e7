// Package examples runs the documentation's examples against a running demo, so that they stay
// correct. It owns which fenced blocks run and how their output is compared. It does not know their
// content.
package examples

import "strings"

// The marks after a block's opening fence.
const (
	runShell   = "sh run"
	runSQL     = "sql run"
	runPython  = "python run"
	runStep    = "sql step" // committed, in order and in a database of the page's own
	outputJSON = "json output"
	outputText = "text output"
)

// block is a fenced block of a Markdown file.
type block struct {
	line int    // of its fence, from 1
	info string // after the fence
	text string
}

func (b block) runs() bool     { return b.info == runShell || b.info == runSQL || b.info == runPython }
func (b block) isStep() bool   { return b.info == runStep }
func (b block) isOutput() bool { return b.info == outputJSON || b.info == outputText }

// name identifies a block within its file by its first line.
func (b block) name() string {
	first, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
	return first
}

// blocks parses a Markdown file. Fences inside list items are indented.
func blocks(markdown string) (all []block) {
	var open *block
	var fence, indent string
	for i, line := range strings.Split(markdown, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			indent = line[:len(line)-len(trimmed)]
			info := strings.TrimLeft(trimmed, "`")
			fence = trimmed[:len(trimmed)-len(info)]
			open = &block{line: i + 1, info: strings.TrimSpace(info)}
		case open != nil && strings.TrimSpace(line) == fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	return all
}
