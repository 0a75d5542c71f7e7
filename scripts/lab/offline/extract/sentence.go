package extract

import (
	"regexp"
	"strings"
)

var (
	listMarker  = regexp.MustCompile(`^(?:[-*•+–]|\d{1,3}[.)]|#{1,6}|>+)\s+`)
	sentenceEnd = regexp.MustCompile(`[.!?…]["')]* +[^\p{Ll} ]`)
)

// wrapped is the length in bytes from which a line may go on in the next one.
const wrapped = 50

// splitSentences splits a text at the ends of lines, unless an editor wrapped them, and of
// sentences. Blocks of code are left out.
func splitSentences(text string) (list []string) {
	paragraph, fenced := "", false
	flush := func() {
		for at := sentenceEnd.FindStringIndex(paragraph); at != nil; at = sentenceEnd.FindStringIndex(paragraph) {
			end := strings.LastIndexByte(paragraph[:at[1]], ' ')
			list = append(list, strings.TrimSpace(paragraph[:end]))
			paragraph = paragraph[end+1:]
		}
		if paragraph != "" {
			list = append(list, paragraph)
		}
		paragraph = ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		isCode := strings.HasPrefix(line, "```")
		if isWrapped := len(paragraph) >= wrapped && !strings.ContainsAny(paragraph[len(paragraph)-1:], ".!?:"); !isWrapped || line == "" || isCode || listMarker.MatchString(line) {
			flush()
		}
		if isCode {
			fenced = !fenced
		} else if !fenced {
			paragraph = strings.TrimSpace(paragraph + " " + listMarker.ReplaceAllString(line, ""))
		}
	}
	flush()
	return list
}
