package describe

import (
	"regexp"
	"strings"
)

// opening is how much of a text, in bytes, is looked through for how long it holds: what it is
// stands at the beginning.
const opening = 700

// The first class whose cue stands in the title or at the beginning is the document's.
var cues = []struct {
	class string
	cue   *regexp.Regexp
}{
	{"historical", regexp.MustCompile(`(?i)\b(?:superseded|obsolete|deprecated|decommissioned|retired|no longer (?:valid|used|in use|applies|exists|how)|(?:was|been) replaced by|replaced in|kept for (?:the record|reference)|how we used to)\b`)},
	// What tells how to do something holds as long as nobody says otherwise, whatever it is about.
	{"evergreen", regexp.MustCompile(`(?i)^(?:how|runbook|playbook|guide|checklist|decision)\b`)},
	{"dated", regexp.MustCompile(`(?i)\b(?:post-?mortem|incident (?:report|review)|minutes of the|meeting notes|notes (?:from|of) the|retrospective|retro|release notes|workshop|interview|timeline|participants)\b|\bQ[1-4] ?20\d\d\b`)},
	{"current", regexp.MustCompile(`(?i)\b(?:current(?:ly)?|as of|at the moment|right now|rota|roadmap|this (?:week|month|quarter|year)|until further notice|in progress|planned)\b`)},
}

// fewWords is how short a text is that says nothing about it.
const fewWords = 5

func temporalClass(title, content string) string {
	if len(content) > opening {
		content = content[:opening]
	}
	text := title + "\n" + content
	for _, c := range cues {
		if c.cue.MatchString(text) {
			return c.class
		}
	}
	if len(strings.Fields(content)) < fewWords {
		return "unknown"
	}
	return "evergreen"
}
