package openai

import (
	"bytes"
	"regexp"
	"strings"
)

// Marks around what a model thinks: tags, special tokens, and the channels of gpt-oss. A thought
// stands before the answer; where the prompt has opened it, the text has only the closing mark.
// Special tokens and tags around the answer are no part of it.
const (
	thoughtTag = `(?:ant|\w{1,20}[:_-])?(?:think|thinking|thought|reason|reasoning|reflection|scratchpad)(?:[_-]\w{1,50})?`
	openTag    = `<` + thoughtTag + `(?:\s[^<>]{0,80})?>|<details type="reasoning"[^<>]{0,80}>|\[think\]`
	answerTag  = `(?:final|(?:final[_-])?(?:answer|response))>`
	special    = `(?:<[|｜][\w▁]{1,30}[|｜]>|</` + answerTag + `)`
)

var (
	opens    = regexp.MustCompile(`(?i)^\s*(?:` + openTag + `|◁think▷|<\|(?:begin_of_thought|start_thinking)\|>|<unused94>|<\|channel>thought|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary))`)
	closes   = regexp.MustCompile(`(?i)</` + thoughtTag + `>|</details>|\[/think\]|◁/think▷|<\|(?:end_of_thought|end_thinking)\|>|<unused95>|<channel\|>|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final[^<]{0,20}<\|message\|>|assistantfinal`)
	opened   = regexp.MustCompile(`(?i)` + openTag + `|<details>`)
	mayOpen  = regexp.MustCompile(`(?i)^\s*(?:[<\[◁][^>\]▷\s]{0,60}|<(?:` + thoughtTag + `|details)\s[^<>]{0,80})?$|^\s*<\|[a-z_|<>]{0,60}$`)
	leading  = regexp.MustCompile(`(?i)^\s*<(?:[|｜](?:begin.of.(?:sentence|text|solution)|start_(?:response|text))[|｜]>|` + answerTag + `)`)
	trailing = regexp.MustCompile(`(?i)(?:(?:\s*` + special + `)+\s*)?(?:<(?:[|｜][\w▁]{0,30}[|｜]?|/[\w-]{0,20})?)?$`)
	specials = regexp.MustCompile(`(?i)^\s*(?:` + special + `\s*)+$`)
)

// longestMark is more than any mark has bytes.
const longestMark = 120

// thoughts splits what a model writes into thoughts, which are dropped, and the answer.
type thoughts struct {
	silent   bool // the text may begin within a thought: it is held back until its end shows
	any      bool // there was a thought
	inside   bool // a thought is open
	begun    bool // some of the answer is out
	unopened bool // only its end was marked
	held     []byte
	seen     int // bytes of held without a closing mark
}

// write returns what is certain to be part of the answer.
func (t *thoughts) write(piece string) (answer string) {
	for t.held = append(t.held, piece...); !t.begun; {
		from := max(0, t.seen-longestMark)
		end := closes.FindIndex(t.held[from:])
		switch open := append(opens.Find(t.held), leading.Find(t.held)...); {
		case !t.inside && len(open) > 0:
			t.inside = !leading.Match(open)
			t.any = t.any || t.inside
			t.held, t.seen = t.held[len(open):], 0
		case end != nil && (t.inside || len(bytes.TrimSpace(t.held[:from+end[0]])) == 0 || t.silent && !t.quoted(from+end[0])):
			t.unopened = t.unopened || t.silent && !t.inside
			t.held, t.seen = t.held[from+end[1]:], 0
			t.inside, t.silent, t.any = false, false, true
		case t.inside:
			t.held = t.held[max(0, len(t.held)-longestMark):]
			return ""
		case t.silent || mayOpen.Match(t.held):
			t.seen = len(t.held)
			return ""
		default:
			return t.tell()
		}
	}
	return t.tell()
}

// tell returns what is held, but special tokens at its end and what may become one.
func (t *thoughts) tell() (answer string) {
	from := max(0, len(t.held)-32*longestMark)
	end := from + trailing.FindIndex(t.held[from:])[0]
	if answer, t.held = string(t.held[:end]), t.held[end:]; t.any && !t.begun {
		answer = strings.TrimLeft(answer, " \t\r\n") // between the thought and the answer
	}
	t.begun = t.begun || answer != ""
	return answer
}

// quoted reports whether a closing mark belongs to what the answer says about such marks.
func (t *thoughts) quoted(at int) bool {
	return bytes.HasSuffix(t.held[:at], []byte("`")) || opened.Match(t.held[:at])
}

// close returns the rest of the answer.
func (t *thoughts) close() (rest string) {
	if !t.inside {
		rest = t.tell()
		if !specials.Match(t.held) {
			rest += string(t.held)
		}
	}
	return rest
}
