package ticketfile

import (
	"regexp"
	"strings"
)

var (
	// The start of a block that is copied as it is.
	verbatim = regexp.MustCompile(`\{(code|noformat)(?::[^{}\n]+)?\}`)
	// A macro that wraps text. Its parameters are layout, except a title.
	wrapper = regexp.MustCompile(`\{(quote|color|panel|info|note|warning|tip|expand)(?::[^{}\n]{1,512})?\}`)
	title   = regexp.MustCompile(`[:|]title=([^|{}]+)`)
	// Markup at the start of a line.
	heading = regexp.MustCompile(`^\s*(?:h[1-6]|bq)\.\s+`)
	bullet  = regexp.MustCompile(`^([*#]{2,8}|\*) +`)
	// A bar between cells of a table, or a link, whose bar is none.
	bar = regexp.MustCompile(`\[[^\[\]]*\]|\|\|?`)
)

// readWiki returns what a reader sees of a text in Jira's wiki markup, in linear time. It keeps
// every word, and leaves text that only resembles markup unchanged: source code, identifiers,
// shell. Code and noformat blocks are copied verbatim.
func readWiki(wiki string) string {
	wiki = strings.ReplaceAll(wiki, "\r\n", "\n")
	tags := map[string]int{} // the wrappers of each name: an unpaired one, such as a placeholder, is text
	for _, tag := range wrapper.FindAllStringSubmatch(wiki, -1) {
		tags[tag[1]]++
	}
	var out strings.Builder
	markup := func(text string) {
		for line := range strings.Lines(text) {
			body, end := strings.CutSuffix(line, "\n")
			out.WriteString(readLine(body, tags))
			if end {
				out.WriteByte('\n')
			}
		}
	}
	unclosed := map[string]bool{} // kinds of blocks that have no end tag any more
	from := 0                     // start of the text not yet written
	for _, tag := range verbatim.FindAllStringSubmatchIndex(wiki, -1) {
		start, body, name := tag[0], tag[1], wiki[tag[2]:tag[3]]
		if start < from || unclosed[name] { // within a block, or not a block
			continue
		}
		code, _, closed := strings.Cut(wiki[body:], "{"+name+"}")
		if !closed {
			unclosed[name] = true
			continue
		}
		markup(wiki[from:start])
		out.WriteString(titleOf(wiki[start:body]) + strings.TrimSuffix(strings.TrimPrefix(code, "\n"), "\n"))
		from = body + len(code) + len("{}") + len(name)
	}
	markup(wiki[from:])
	return out.String()
}

// titleOf returns a macro's title on a line of its own.
func titleOf(macro string) string {
	if found := title.FindStringSubmatch(macro); found != nil {
		return strings.TrimSpace(found[1]) + "\n"
	}
	return ""
}

func readLine(line string, tags map[string]int) string {
	line = wrapper.ReplaceAllStringFunc(line, func(macro string) string {
		if name := wrapper.FindStringSubmatch(macro)[1]; tags[name] < 2 {
			return macro
		}
		return titleOf(macro)
	})
	line = strings.TrimSuffix(line, `\\`)
	if at := heading.FindString(line); at != "" {
		return inline(line[len(at):])
	}
	if at := bullet.FindStringSubmatch(line); at != nil {
		return strings.Repeat("  ", len(at[1])-1) + "- " + inline(line[len(at[0]):])
	}
	if row := strings.TrimSpace(line); len(row) > 2 && row[0] == '|' && row[len(row)-1] == '|' && strings.Trim(row, "| ") != "" {
		return tableRow(strings.Trim(row, "|"))
	}
	return inline(line)
}

// tableRow reads a|b or a||b.
func tableRow(row string) string {
	const between = "\uE001"
	cells := strings.Split(bar.ReplaceAllStringFunc(row, func(found string) string {
		if found[0] == '|' {
			return between
		}
		return found
	}), between)
	for i, cell := range cells {
		cells[i] = inline(strings.TrimSpace(cell))
	}
	return strings.Join(cells, " | ")
}

// whole matches markup within a line that is replaced as a whole, and what emphasis must not
// change: an address, an escaped character, a user, an address with or without a text, an embedded
// file, monospaced text. U+E000 takes their place meanwhile.
var whole = regexp.MustCompile(`https?://[^ \t|\]){}"<>]*` +
	`|\\([{}\[\]*_!|])` +
	`|\[~(?:accountid:)?([^ \t|\[\]]+)\]` +
	`|\[(?:([^|\[\]]*)\|([#/][^|\[\]]*)|(?:([^|\[\]]*)\|)?((?:(?:https?|ftp|file)://|mailto:)[^ \t|\[\]]+))(?:\|[^\[\]]*)?\]` +
	`|!((?:\w+://[^!|]+|[^!|\s=&()][^!|=&()]*)\.(?i:png|jpe?g|gif|svg|webp|bmp|tiff?|heic|mp4|mov|webm|pdf))(?:\|[^!]*)?!` +
	`|\{\{([^{} .][^{}]*)\}\}` +
	`|\x{E000}`)

// bold and italic match emphasis around words: after a space or an opening character, and not
// before a word, so that identifiers and expressions keep their * and _.
var (
	bold   = regexp.MustCompile(`(^|[\s(\[{"'|:\-_])\*([\pL\pN(\[{"'` + "`" + `@#<_\x{E000}](?:[^*]*[^*\s(\[{/])?)\*($|[^*\pL\pN(/\[=])`)
	italic = regexp.MustCompile(`(^|[\s(\[{"'|:\-*])_([\pL\pN(\[{"'` + "`" + `@#<*\x{E000}](?:[^_]*[^_\s(\[{/])?)_($|[^_\pL\pN(/\[=])`)
)

// inline strips the markup within a line.
func inline(line string) string {
	if !strings.ContainsAny(line, `*_[{!\`) {
		return line
	}
	var texts []string
	line = whole.ReplaceAllStringFunc(line, func(text string) string {
		found := whole.FindStringSubmatch(text)
		address := strings.TrimPrefix(found[4]+found[6], "mailto:")
		switch label := strings.TrimSpace(found[3] + found[5]); {
		case address != "" && (label == "" || label == address):
			text = address
		case address != "":
			text = label + " (" + address + ")"
		case found[2] != "":
			text = "@" + found[2]
		case found[8] != "":
			text = "`" + found[8] + "`"
		case found[1]+found[7] != "":
			text = found[1] + found[7]
		}
		texts = append(texts, text)
		return "\uE000"
	})
	for range 2 { // the end of one pair may be the beginning of the next
		line = italic.ReplaceAllString(bold.ReplaceAllString(line, "$1$2$3"), "$1$2$3")
	}
	parts := strings.Split(line, "\uE000")
	var out strings.Builder
	for i, part := range parts {
		if i > 0 {
			out.WriteString(texts[i-1])
		}
		out.WriteString(part)
	}
	return out.String()
}
