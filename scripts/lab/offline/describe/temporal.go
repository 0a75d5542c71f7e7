package describe

import (
	"regexp"
	"strings"
)

// opening is how many bytes at the start of a text are searched for its validity, which is usually
// stated there.
const opening = 700

// The first class with a cue in the title or at the start of the text wins.
var cues = []struct {
	class string
	cue   *regexp.Regexp
}{
	{"historical", regexp.MustCompile(`(?i)\b(?:superseded|obsolete|deprecated|decommissioned|retired|no longer (?:valid|used|in use|applies|exists|how)|(?:was|been) replaced by|replaced in|kept for (?:the record|reference)|how we used to)\b`)},
	// Instructions stay valid until replaced, whatever they are about.
	{"evergreen", regexp.MustCompile(`(?i)^(?:how|runbook|playbook|guide|checklist|decision)\b`)},
	{"dated", regexp.MustCompile(`(?i)\b(?:post-?mortem|incident (?:report|review)|minutes of the|meeting notes|notes (?:from|of) the|retrospective|retro|release notes|workshop|interview|timeline|participants)\b|\bQ[1-4] ?20\d\d\b`)},
	{"current", regexp.MustCompile(`(?i)\b(?:current(?:ly)?|as of|at the moment|right now|rota|roadmap|this (?:week|month|quarter|year)|until further notice|in progress|planned)\b`)},
}

// fewWords is the length below which a text has no class.
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
