package reply

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/clean"
)

// known holds the texts of the sources and the addresses in them.
type known struct {
	texts []string
	read  bool            // the fields below are filled
	webs  []string        // each from the start of an address to the next blank, sorted
	mails map[string]bool // email addresses
	found map[string]bool // cached results of has
}

// contains reports whether a source contains the text.
func (k *known) contains(text string) bool {
	k.readTexts()
	return slices.ContainsFunc(k.texts, func(source string) bool { return strings.Contains(source, text) })
}

// hasMail reports whether a source contains the email address.
func (k *known) hasMail(address string) bool {
	k.readTexts()
	return k.mails[address]
}

// has reports whether a source contains the web address as a whole, not as a part of a longer one.
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

// readTexts collects the addresses on first use: most answers have none.
func (k *known) readTexts() {
	if k.read {
		return
	}
	k.read, k.mails, k.found = true, map[string]bool{}, map[string]bool{}
	k.texts = slices.Clone(k.texts) // the caller's slice stays unchanged
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

// ends reports whether an address ends before rest: at the end of the text, at a character that no
// address contains, or at the end of a sentence.
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

// target returns the target of a link if it is a web address that occurs in a source. Any other
// target could run code in the reader's browser or lead to an unchecked site.
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

// address returns the address of a link target, without its title.
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
