package ticketfile

import (
	"regexp"
	"strings"
)

// Patterns of markup at the start of a line.
var (
	heading = regexp.MustCompile(`^\s*h[1-6]\.\s+`)
	quoted  = regexp.MustCompile(`^\s*bq\.\s+`)
	bullet  = regexp.MustCompile(`^([*#]{2,8}|\*) +`)
	// A macro that wraps text. Its parameters are layout, except a title.
	wrapper = regexp.MustCompile(`\{(quote|(?:color|panel|info|note|warning|tip|expand)(?::[^{}\n]{1,512})?)\}`)
	title   = regexp.MustCompile(`[:|]title=([^|{}]+)`)
)

// verbatim matches the start tag of a block that is copied as it is.
var verbatim = regexp.MustCompile(`\{(code|noformat)(?::[^{}\n]+)?\}`)

// readWiki returns what a reader sees of a text in Jira's wiki markup, in linear time. It keeps
// every word, and leaves text that only resembles markup unchanged: source code, identifiers,
// shell. Code and noformat blocks are copied verbatim.
func readWiki(wiki string) string {
	wiki = strings.ReplaceAll(wiki, "\r\n", "\n")
	var out strings.Builder
	outside := lines{&out, tagsOf(wiki)}
	unclosed := map[string]bool{} // kinds of blocks that have no end tag any more
	from := 0                     // start of the text not yet written
	for at := 0; ; {
		tag := verbatim.FindStringSubmatchIndex(wiki[at:])
		if tag == nil {
			break
		}
		start, body, name, end := at+tag[0], at+tag[1], wiki[at+tag[2]:at+tag[3]], -1
		if !unclosed[name] {
			end = strings.Index(wiki[body:], "{"+name+"}")
		}
		if at = body; end < 0 { // not a block
			unclosed[name] = true
			continue
		}
		outside.write(wiki[from:start])
		writeTitle(&out, wiki[start:body])
		out.WriteString(strings.TrimSuffix(strings.TrimPrefix(wiki[body:body+end], "\n"), "\n"))
		at = body + end + len("{}") + len(name)
		from = at
	}
	outside.write(wiki[from:])
	return out.String()
}

// writeTitle writes a macro's title on its own line.
func writeTitle(out *strings.Builder, macro string) {
	if found := title.FindStringSubmatch(macro); found != nil {
		out.WriteString(strings.TrimSpace(found[1]) + "\n")
	}
}

// lines writes text outside verbatim blocks. tags counts the wrappers of each name: an unpaired
// one, such as a placeholder, is text.
type lines struct {
	out  *strings.Builder
	tags map[string]int
}

func tagsOf(wiki string) map[string]int {
	tags := map[string]int{}
	for _, tag := range wrapper.FindAllStringSubmatch(wiki, -1) {
		tags[tagName(tag[1])]++
	}
	return tags
}

func tagName(inside string) string {
	name, _, _ := strings.Cut(inside, ":")
	return name
}

func (l lines) write(text string) {
	for line := range strings.Lines(text) {
		body, end := strings.CutSuffix(line, "\n")
		l.line(body)
		if end {
			l.out.WriteByte('\n')
		}
	}
}

func (l lines) line(line string) {
	out := l.out
	line = wrapper.ReplaceAllStringFunc(line, func(macro string) string {
		if l.tags[tagName(strings.Trim(macro, "{}"))] < 2 {
			return macro
		}
		if found := title.FindStringSubmatch(macro); found != nil {
			return strings.TrimSpace(found[1]) + "\n"
		}
		return ""
	})
	line = strings.TrimSuffix(line, `\\`)
	if at := heading.FindString(line); at != "" {
		line = line[len(at):]
	} else if at := quoted.FindString(line); at != "" {
		line = line[len(at):]
	} else if at := bullet.FindStringSubmatch(line); at != nil {
		out.WriteString(strings.Repeat("  ", len(at[1])-1) + "- ")
		line = line[len(at[0]):]
	} else if cells, ok := tableRow(line); ok {
		for i, cell := range cells {
			if i > 0 {
				out.WriteString(" | ")
			}
			out.WriteString(inline(strings.TrimSpace(cell)))
		}
		return
	}
	out.WriteString(inline(line))
}

// tableRow splits |a|b| and ||a||b|| into cells. A bar inside brackets belongs to a link.
func tableRow(line string) ([]string, bool) {
	row := strings.TrimSpace(line)
	if len(row) < 3 || row[0] != '|' || row[len(row)-1] != '|' || strings.Trim(row, "| ") == "" {
		return nil, false
	}
	var cells []string
	start, depth := 0, 0
	row = strings.Trim(row, "|")
	for i := range len(row) {
		switch row[i] {
		case '[':
			depth = 1
		case ']':
			depth = 0
		case '|':
			if depth > 0 {
				continue
			}
			if i > start || row[i-1] != '|' {
				cells = append(cells, row[start:i])
			}
			start = i + 1
		}
	}
	return append(cells, row[start:]), true
}
