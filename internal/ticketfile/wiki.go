package ticketfile

import (
	"regexp"
	"strings"
)

var (
	// verbatim matches the tags of a block that is copied as it is.
	verbatim = regexp.MustCompile(`\{(code|noformat)(:[^{}\n]+)?\}`)
	// wrapper matches the tags of a macro around text. Its parameters are layout, except a title.
	wrapper = regexp.MustCompile(`\{(quote|color|panel|info|note|warning|tip|expand)(?::[^{}\n]{1,512})?\}`)
	title   = regexp.MustCompile(`[:|]title=([^|{}]+)`)
	// markup matches what a reader does not see as it is written, and what is kept although it looks
	// like that: an address.
	markup = regexp.MustCompile(`(?m)https?://[^\s|\]){}"<>]*` +
		`|(?P<left>^[ \t]*(?:h[1-6]|bq)\.[ \t]+|\\\\$)` +
		`|(?P<wrapper>` + wrapper.String() + `)` +
		`|\\(?P<escaped>[{}\[\]*_!|])` +
		`|\[~(?:accountid:)?(?P<user>[^\s|\[\]]+)\]` +
		`|\[(?:(?P<label>[^|\[\]\n]*)\|)?(?P<address>(?:(?:https?|ftp|file)://|mailto:)[^\s|\[\]]+)(?:\|[^\[\]\n]*)?\]` +
		`|!(?P<file>(?:\w+://[^!|\n]+|[^!|\s=&()][^!|=&()\n]*)\.(?i:png|jpe?g|gif|svg|webp|bmp|tiff?|heic|mp4|mov|webm|pdf))(?:\|[^!\n]*)?!` +
		`|\{\{(?P<code>[^{}\s.][^{}\n]*)\}\}`)
)

// readWiki returns what a reader sees of a text in Jira's wiki markup, in linear time. Macros,
// links, files and headings become plain text; code is copied. Emphasis, lists and tables stay:
// they are readable, and look as in source code and shell, which must not be changed.
func readWiki(wiki string) string {
	wiki = strings.ReplaceAll(wiki, "\r\n", "\n")
	tags := map[string]int{} // the wrappers of each name: an unpaired one, such as a placeholder, is text
	for _, tag := range wrapper.FindAllStringSubmatch(wiki, -1) {
		tags[tag[1]]++
	}
	var out strings.Builder
	written := 0
	open, start, body := "", 0, 0 // the kind of the open block, and where its tag and its text begin
	for _, tag := range verbatim.FindAllStringSubmatchIndex(wiki, -1) {
		name, isStart := wiki[tag[2]:tag[3]], tag[4] >= 0
		switch {
		case open == "":
			open, start, body = name, tag[0], tag[1]
		case open == name && !isStart:
			out.WriteString(plainWiki(wiki[written:start], tags) + titleOf(wiki[start:body]))
			out.WriteString(strings.TrimSuffix(strings.TrimPrefix(wiki[body:tag[0]], "\n"), "\n"))
			open, written = "", tag[1]
		}
	}
	return out.String() + plainWiki(wiki[written:], tags)
}

// plainWiki replaces the markup of a text without verbatim blocks.
func plainWiki(wiki string, tags map[string]int) string {
	return markup.ReplaceAllStringFunc(wiki, func(found string) string {
		groups := markup.FindStringSubmatch(found)
		group := func(name string) string { return groups[markup.SubexpIndex(name)] }
		address := strings.TrimPrefix(group("address"), "mailto:")
		switch label := strings.TrimSpace(group("label")); {
		case group("left") != "":
			return ""
		case group("wrapper") != "" && tags[wrapper.FindStringSubmatch(found)[1]] > 1:
			return titleOf(found)
		case address != "" && label != "" && label != address:
			return label + " (" + address + ")"
		case address != "":
			return address
		case group("user") != "":
			return "@" + group("user")
		case group("code") != "":
			return "`" + group("code") + "`"
		case group("escaped")+group("file") != "":
			return group("escaped") + group("file")
		}
		return found
	})
}

// titleOf returns a macro's title on a line of its own.
func titleOf(macro string) string {
	if found := title.FindStringSubmatch(macro); found != nil {
		return strings.TrimSpace(found[1]) + "\n"
	}
	return ""
}
