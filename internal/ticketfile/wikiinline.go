package ticketfile

import (
	"regexp"
	"strings"
)

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
