package answer

import (
	"regexp"
	"strconv"
	"strings"
)

// citation is [1], or several in one pair of brackets, [1, 2]; with the blanks before it.
var citation = regexp.MustCompile(`[ \t]*\[\s*\d+(?:\s*[,;]\s*\d+)*\s*\]`)

var number = regexp.MustCompile(`\d+`)

// checkCitations marks the sources that a text cites and takes the citations of unknown sources out of it.
func checkCitations(text string, sources []Source) string {
	text = citation.ReplaceAllStringFunc(text, func(cited string) string {
		var known strings.Builder
		for _, digits := range number.FindAllString(cited, -1) {
			id, err := strconv.Atoi(digits)
			if err != nil || id < 1 || id > len(sources) {
				continue
			}
			sources[id-1].Cited = true
			known.WriteString("[" + strconv.Itoa(id) + "]")
		}
		if known.Len() == 0 {
			return ""
		}
		blanks := cited[:strings.IndexByte(cited, '[')]
		return blanks + known.String()
	})
	return strings.TrimSpace(text)
}
