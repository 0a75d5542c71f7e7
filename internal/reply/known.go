package reply

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/clean"
)

// known are the texts of the sources, and the addresses that stand in them.
type known struct {
	texts []string
	read  bool            // what follows is made of the texts
	webs  []string        // from where an address begins up to a blank, in order
	mails map[string]bool // mail addresses
	found map[string]bool // addresses that were asked for
}

// contains says that a text stands in a source.
func (k *known) contains(text string) bool {
	k.readTexts()
	return slices.ContainsFunc(k.texts, func(source string) bool { return strings.Contains(source, text) })
}

// hasMail says that a mail address stands in a source.
func (k *known) hasMail(address string) bool {
	k.readTexts()
	return k.mails[address]
}

// has says that an address of the web stands in a source as a whole: nothing of it was left out there before or after it.
func (k *known) has(address string) bool {
	k.readTexts()
	found, is := k.found[address]
	if !is {
		for i, _ := slices.BinarySearch(k.webs, address); !found && i < len(k.webs) && strings.HasPrefix(k.webs[i], address); i++ {
			found = ends(k.webs[i][len(address):])
		}
		k.found[address] = found
	}
	return found
}

var begin = regexp.MustCompile(`(?i)(?:https?|ftp)://|www\.`)

// readTexts finds the addresses, once, when the first is asked for: most answers have none.
func (k *known) readTexts() {
	if k.read {
		return
	}
	k.read, k.mails, k.found = true, map[string]bool{}, map[string]bool{}
	k.texts = slices.Clone(k.texts) // the caller keeps its own
	for i := range k.texts {
		text := clean.Visible(k.texts[i])
		k.texts[i] = text
		for _, place := range begin.FindAllStringIndex(text, -1) {
			if before, _ := utf8.DecodeLastRuneInString(text[:place[0]]); asciiWord(before) {
				continue
			}
			run := text[place[0]:min(len(text), place[0]+2*maxAddress)]
			if end := strings.IndexFunc(run, func(r rune) bool { return unicode.IsSpace(r) || r == '<' }); end >= 0 {
				run = run[:end]
			}
			k.webs = append(k.webs, run)
		}
		for at, r := range text {
			if r == '@' {
				name, domain := mailbox(text[max(0, at-maxAddress):at]), text[at+1:min(len(text), at+maxAddress)]
				if end := strings.IndexFunc(domain, func(r rune) bool { return !inDomain(r) }); end >= 0 {
					domain = domain[:end]
				}
				domain = strings.TrimRight(domain, ".-_")
				k.mails[name+"@"+domain] = true
				k.mails[name[strings.LastIndexAny(name, "!#$%&'*/=?^`{|}~")+1:]+"@"+domain] = true
			}
		}
	}
	slices.Sort(k.webs)
	k.webs = slices.Compact(k.webs)
}

// ends says that an address ends before a text: with the text, at a character that no address has, or with a sentence.
func ends(rest string) bool {
	for _, r := range rest {
		switch {
		case r >= utf8.RuneSelf || strings.ContainsRune("\"'`|)]}>", r):
			return true
		case !strings.ContainsRune(".,;:!?*_~", r):
			return false
		}
	}
	return true
}

var (
	webTarget = regexp.MustCompile(`^https?://[^\s<>\\"` + "`" + `]+$`)
	entity    = regexp.MustCompile(`&#?[0-9A-Za-z]+;`)
)

// target gives the target of a link as it may go out: an address of the web that stands in a source. Others would run in
// the reader's browser, or lead where nobody looked.
func (k *known) target(inside string) (target string, is bool) {
	target = address(inside)
	if len(target) > maxAddress || !webTarget.MatchString(target) || entity.MatchString(target) || !k.has(target) {
		return "", false
	}
	if strings.ContainsAny(target, "()") {
		return "<" + target + ">", true
	}
	return target, true
}

// address is that of a link's target, without its title.
func address(inside string) string {
	inside = strings.TrimSpace(inside)
	if strings.HasPrefix(inside, "<") {
		inside, _, _ = strings.Cut(inside[1:], ">")
		return strings.TrimSpace(inside)
	}
	if fields := strings.Fields(inside); len(fields) > 0 {
		return fields[0]
	}
	return ""
}
