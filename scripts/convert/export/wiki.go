package export

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// verbatim matches the tags of a block whose inside is read apart from the rest.
	verbatim = regexp.MustCompile(`\{(code|noformat|quote)(:[^{}\n]+)?\}`)
	// wrapper matches the tags of a macro around text. Its parameters are layout, except a title.
	wrapper  = regexp.MustCompile(`\{(color|panel|info|note|warning|tip|expand)(?::[^{}\n]{1,512})?\}`)
	title    = regexp.MustCompile(`[:|]title=([^|{}]+)`)
	language = regexp.MustCompile(`^:(?:[^{}]*\|)?(?:language=)?([\w+#-]+)(?:[|}]|$)`)
	// markup matches what a reader does not see as it is written, and what is kept although it looks
	// like that: an address.
	markup = regexp.MustCompile(`https?://[^\s|\]){}"<>]*` +
		`|(?P<wrapper>` + wrapper.String() + `)` +
		`|\\(?P<escaped>[{}\[\]*_!|])` +
		`|\B\[~(?:accountid:)?(?P<user>[^\s|\[\]/][^|\[\]\n/]{0,255})\]` +
		`|\[(?:(?P<label>[^|\[\]\n]*)\|)?(?P<address>(?:(?:https?|ftp|file)://|mailto:)[^\s|\[\]]+)(?:\|[^\[\]\n]*)?\]` +
		`|\[(?P<text>[^|\[\]\n]+)\|(?P<target>[A-Z][A-Z0-9_]+-[0-9]+|#[^\s|\[\]]+)(?:\|[^\[\]\n]*)?\]` +
		`|\[(?:[^|\[\]\n]+\|)?\^(?P<attached>\w(?:[^-|\\\[\]\n][^|\\\[\]\n]*)?\.\w{1,8})(?:\|[^\[\]\n]*)?\]` +
		`|!(?P<file>(?:\w+://[^!|\n]+|[^!|\s=&()][^!|=&()\n]*)\.(?i:png|jpe?g|gif|svg|webp|bmp|tiff?|heic|mp4|mov|webm|pdf))(?:\|[^!\n]*)?!` +
		"|\\{\\{(?P<code>(?:\\.{1,2}/)?[^{}\\s.`][^{}\\n`]*)\\}\\}" +
		`|\{-\}(?P<gone>[^\s{}][^{}\n]*)\{-\}|\{\*\}(?P<strong>[^\s{}][^{}\n]*)\{\*\}|\{[_+]\}(?P<stressed>[^\s{}][^{}\n]*)\{[_+]\}`)
	// struck matches a deleted and an inserted text between spaces, and what else may hold such signs.
	// Each alternative ends where it could begin again: one that reads on would do so from each place.
	struck = regexp.MustCompile(`(?m)\{\{[^{\n]*?\}\}|\[[^\[\]\n]*\]` +
		`|(^|[\s(])(?:-(\pL|\pL(?:[^\n-]|\b-\b)*?[^\s-])-|\+(\pL|\pL[^\n+]*?[^\s+])\+)($|[\s.,;:!?)])`)
	heading   = regexp.MustCompile(`^[ \t]*(?:h([1-6])|bq)\.[ \t]+`)
	item      = regexp.MustCompile(`^([#*]{1,8})[ \t]+(\S)`)
	backticks = regexp.MustCompile("`{3,}")
	// longRow matches a row of a table with lines within a cell.
	longRow = regexp.MustCompile(`(?m)^\|[^\n]*\|[^\n|]*[^\s|][^\n|]*(?:\n[^|\n][^\n|]*){0,20}\n[^|\n][^\n]*\|[ \t]*$`)
	header  = regexp.MustCompile(`^\|\|(.+)\|\|[ \t]*$`)
)

// wiki converts one text.
type wiki struct {
	people people
	tags   map[string]int // the wrappers of each name: an unpaired one, such as a placeholder, is text
	lists  bool           // whether # begins an item: a single one is rather a comment
	counts []int          // of the items at each depth of the current list
	last   string         // the marks of the last item
}

// inWiki are the signs of Markdown around the text of such a group of markup.
var inWiki = map[string]string{"code": "`", "gone": "~~", "strong": "**", "stressed": "_", "escaped": "", "file": "", "attached": ""}

// readWiki returns a text in Jira's wiki markup as Markdown, in linear time. Emphasis by * and _
// stays: it is readable, and looks as in source code and shell, which must not be changed.
func readWiki(text string, people people) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	w := wiki{people: people, tags: map[string]int{}}
	w.lists = !strings.Contains(text, "```") && strings.Count("\n"+text, "\n# ") > 1
	for _, tag := range wrapper.FindAllStringSubmatch(text, -1) {
		w.tags[tag[1]]++
	}
	var out strings.Builder
	block := false // whether a block was written last
	plain := func(part string) {
		if block && part != "" && part[0] != '\n' {
			out.WriteByte('\n')
			part = strings.TrimLeft(part, " \t")
		}
		out.WriteString(w.lines(w.plain(part)))
	}
	written := 0
	open, start, body := "", 0, 0 // the kind of the open block, and where its tag and its text begin
	for _, tag := range verbatim.FindAllStringSubmatchIndex(text, -1) {
		name, isStart := text[tag[2]:tag[3]], tag[4] >= 0
		switch {
		case open == "":
			open, start, body = name, tag[0], tag[1]
		case open == name && !isStart:
			plain(text[written:start])
			inside := strings.TrimSuffix(strings.TrimPrefix(text[body:tag[0]], "\n"), "\n")
			macro := text[start:body]
			if block = name == "quote" || strings.ContainsAny(inside, "\n`"); block && out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
				out.WriteByte('\n')
			}
			switch {
			case name == "quote":
				out.WriteString("> " + strings.ReplaceAll(readWiki(inside, people), "\n", "\n> "))
			case block:
				out.WriteString(titleOf(macro) + fence(inside, languageOf(macro[1+len(name):])))
			case strings.TrimSpace(inside) != "":
				out.WriteString(titleOf(macro) + "`" + inside + "`")
			}
			open, written = "", tag[1]
		}
	}
	plain(text[written:])
	return out.String()
}

// plain replaces the markup within the lines of a text without blocks.
func (w *wiki) plain(text string) string {
	for i, before := 0, ""; i < 2 && before != text && mayStrike(text); i++ { // neighbours share the space between them
		before = text
		text = struck.ReplaceAllStringFunc(text, func(found string) string {
			groups := struck.FindStringSubmatch(found)
			switch {
			case groups[2] != "":
				return groups[1] + "~~" + groups[2] + "~~" + groups[4]
			case groups[3] != "":
				return groups[1] + "_" + groups[3] + "_" + groups[4]
			}
			return found
		})
	}
	if !strings.ContainsAny(text, `{[!\`) {
		return text
	}
	return markup.ReplaceAllStringFunc(text, func(found string) string {
		groups := markup.FindStringSubmatch(found)
		group := func(name string) string { return groups[markup.SubexpIndex(name)] }
		address := strings.TrimPrefix(group("address"), "mailto:")
		switch label := strings.TrimSpace(group("label")); {
		case group("wrapper") != "" && w.tags[wrapper.FindStringSubmatch(found)[1]] > 1:
			return titleOf(found)
		case address != "" && label != "" && label != address:
			return label + " (" + address + ")"
		case address != "":
			return address
		case strings.HasPrefix(group("target"), "#"):
			return group("text")
		case group("target") != "":
			return group("text") + " (" + group("target") + ")"
		case group("user") != "":
			return "@" + w.people.name(group("user"))
		}
		for name, mark := range inWiki {
			if text := group(name); text != "" {
				return mark + text + mark
			}
		}
		return found
	})
}

// mayStrike reports whether a sign stands where struck could begin, which is seen at less cost.
func mayStrike(text string) bool {
	for i := range len(text) - 1 {
		isSign := text[i] == '-' || text[i] == '+'
		if isSign && (i == 0 || strings.IndexByte("\t\n\f\r (", text[i-1]) >= 0) && (text[i+1] >= utf8.RuneSelf || unicode.IsLetter(rune(text[i+1]))) {
			return true
		}
	}
	return false
}

// lines replaces the markup at the beginning of lines: headings, lists, and headers of tables.
func (w *wiki) lines(text string) string {
	text = longRow.ReplaceAllStringFunc(text, func(row string) string { return strings.ReplaceAll(row, "\n", " ") })
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		found := item.FindStringSubmatch(line)
		if found == nil && strings.TrimSpace(line) != "" {
			w.counts = nil // another list begins after it
		}
		switch level := heading.FindStringSubmatch(line); {
		case level != nil && level[1] != "":
			lines[i] = strings.Repeat("#", int(level[1][0]-'0')) + " " + line[len(level[0]):]
		case level != nil:
			lines[i] = "> " + line[len(level[0]):]
		case found != nil:
			lines[i] = w.item(found[1], line)
		case i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|") && header.MatchString(line):
			cells := strings.Split(header.FindStringSubmatch(line)[1], "||")
			lines[i] = "| " + strings.Join(cells, " | ") + " |\n" + strings.Repeat("| --- ", len(cells)) + "|"
		default:
			lines[i] = strings.TrimSuffix(line, `\\`)
		}
	}
	return strings.Join(lines, "\n")
}

// item indents and numbers an item of a list, whose marks stand for the lists around it.
func (w *wiki) item(marks, line string) string {
	depth := len(marks)
	if strings.Contains(marks, "#") && !w.lists || depth > len(w.counts)+1 {
		return line
	}
	w.counts = slices.Concat(w.counts[:min(depth, len(w.counts))], make([]int, max(0, depth-len(w.counts))))
	if !strings.HasPrefix(w.last, marks) {
		w.counts[depth-1] = 0
	}
	w.last = marks
	w.counts[depth-1]++
	mark := "*"
	if marks[depth-1] == '#' {
		mark = fmt.Sprintf("%d.", w.counts[depth-1])
	}
	outer := strings.NewReplacer("#", "   ", "*", "  ").Replace(marks[:depth-1])
	text := line[depth:]
	for sign, state := range map[string]string{" [] ": " [ ] ", " <> ": " Decision: "} { // of tasks and decisions
		if rest, is := strings.CutPrefix(text, sign); is {
			text = state + rest
		}
	}
	return outer + mark + text
}

// fence returns code between fences that are longer than any in it.
func fence(code, language string) string {
	marks := "```"
	for _, run := range backticks.FindAllString(code, -1) {
		marks = strings.Repeat("`", max(len(marks), len(run)+1))
	}
	return marks + language + "\n" + code + "\n" + marks
}

func languageOf(parameters string) string {
	if found := language.FindStringSubmatch(parameters); found != nil && found[1] != "title" {
		return found[1]
	}
	return ""
}

// titleOf returns a macro's title on a line of its own.
func titleOf(macro string) string {
	if found := title.FindStringSubmatch(macro); found != nil {
		return strings.TrimSpace(found[1]) + "\n"
	}
	return ""
}
