package openai

import (
	"regexp"
	"strings"
)

// Marks around what a model thinks: tags, and the channels of gpt-oss. A thought stands before the
// answer; where the prompt has opened it, the text has only the closing mark.
const thoughtTag = `(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)`

var (
	opens   = regexp.MustCompile(`(?i)^\s*(?:<` + thoughtTag + `>|\[think\]|◁think▷|<\|begin_of_thought\|>|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary))`)
	closes  = regexp.MustCompile(`(?i)</` + thoughtTag + `>|\[/think\]|◁/think▷|<\|end_of_thought\|>|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final[^<]{0,20}<\|message\|>|assistantfinal`)
	opened  = regexp.MustCompile(`(?i)<` + thoughtTag + `>|\[think\]`)
	mayOpen = regexp.MustCompile(`(?i)^\s*(?:[<\[◁][^>\]▷\s]{0,40})?$|^\s*<\|[a-z_|<>]{0,60}$`)
)

// longestMark is more than any mark has bytes.
const longestMark = 80

// thoughts splits what a model writes into thoughts, which are dropped, and the answer.
type thoughts struct {
	silent   bool // the text may begin within a thought: it is held back until its end shows
	any      bool // there was a thought
	inside   bool // a thought is open
	begun    bool // some of the answer is out
	unopened bool // only its end was marked
	held     string
	seen     int // bytes of held without a closing mark
}

// write returns what is certain to be part of the answer.
func (t *thoughts) write(piece string) (answer string) {
	t.held += piece
	for !t.begun {
		from := max(0, t.seen-longestMark)
		end := closes.FindStringIndex(t.held[from:])
		switch {
		case !t.inside && opens.MatchString(t.held):
			t.inside, t.any = true, true
			t.held, t.seen = t.held[len(opens.FindString(t.held)):], 0
			continue
		case end != nil && (t.inside || strings.TrimSpace(t.held[:from+end[0]]) == "" || t.silent && !t.quoted(from+end[0])):
			t.unopened = t.unopened || t.silent && !t.inside
			t.held, t.seen = t.held[from+end[1]:], 0
			t.inside, t.silent, t.any = false, false, true
			continue
		case !t.inside && mayOpen.MatchString(t.held):
			return ""
		case t.inside:
			t.held = t.held[max(0, len(t.held)-longestMark):]
			return ""
		case t.silent:
			t.seen = len(t.held)
			return ""
		}
		break
	}
	return t.tell()
}

func (t *thoughts) tell() (answer string) {
	if answer, t.held = t.held, ""; t.any && !t.begun {
		answer = strings.TrimLeft(answer, " \t\r\n") // between the thought and the answer
	}
	t.begun = t.begun || answer != ""
	return answer
}

// quoted reports whether a closing mark belongs to what the answer says about such marks.
func (t *thoughts) quoted(at int) bool {
	return strings.HasSuffix(t.held[:at], "`") || opened.MatchString(t.held[:at])
}

// close returns the rest of the answer.
func (t *thoughts) close() string {
	if t.inside {
		return ""
	}
	return t.tell()
}
