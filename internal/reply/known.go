package reply

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/clean"
)

// known holds the addresses in the texts of the sources.
type known struct {
	texts []string
	read  bool            // the fields below are filled
	webs  []string        // each from the start of an address to the next blank, sorted
	mails map[string]bool // email addresses
	calls map[string]bool // brackets with parentheses that are no links
	found map[string]bool // cached results of has
}

// hasMail reports whether a source contains the email address.
func (k *known) hasMail(address string) bool {
	k.readTexts()
	return k.mails[address]
}

// hasCall reports whether a source contains brackets followed by these parentheses.
func (k *known) hasCall(text string) bool {
	k.readTexts()
	return k.calls[text]
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

// readTexts collects the addresses on first use: most answers have none.
func (k *known) readTexts() {
	if k.read {
		return
	}
	k.read, k.mails, k.calls, k.found = true, map[string]bool{}, map[string]bool{}, map[string]bool{}
	var texts []string
	for _, text := range k.texts {
		text = clean.Visible(text)
		if texts = append(texts, text); strings.Contains(text, "&") {
			texts = append(texts, html.UnescapeString(text))
		}
	}
	for _, text := range texts {
		for _, call := range calls.FindAllString(text, -1) {
			k.calls[call] = true
		}
		for _, place := range begin.FindAllStringIndex(fold(text), -1) {
			run := strings.TrimLeft(text[place[0]:min(len(text), place[0]+2*maxWord)], `"'=(<`)
			if end := strings.IndexFunc(run, func(r rune) bool { return unicode.IsSpace(r) || r == '<' }); end >= 0 {
				run = run[:end]
			}
			k.webs = append(k.webs, run)
			if scheme, _, _ := strings.Cut(run, ":"); strings.Contains(scheme, "+") { // git+https://…
				k.webs = append(k.webs, run[strings.LastIndexByte(scheme, '+')+1:])
			}
		}
		for at, r := range text {
			if r == '@' {
				name, domain := mailbox(text[max(0, at-maxWord):at]), text[at+1:min(len(text), at+maxWord)]
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

// webTarget is the target of a link. Any other could run code in the reader's browser.
var webTarget = regexp.MustCompile(`^https?://[^\s<>\\"` + "`" + `]+$`)

// address returns how much of a text is an address that a source contains or, if none is, how much
// is to be replaced. A scheme alone is no address.
func (k *known) address(text string) (size int, is bool) {
	if strings.Trim(strings.TrimPrefix(text[strings.IndexAny(text, "/.")+1:], "/"), closing) == "" {
		return len(text), true
	}
	ascii := text
	if i := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }); i > 0 {
		ascii = text[:i] // the rest may be text in a script without spaces
	}
	for _, address := range []string{text, ascii} {
		for cut := len(address); cut > 0 && len(address)-cut <= maxClosing; cut-- {
			if k.has(address[:cut]) {
				return len(address), true
			}
			if !strings.ContainsRune(closing, rune(address[cut-1])) {
				break
			}
		}
	}
	size = len(strings.TrimRight(ascii, closing))
	if i := strings.IndexAny(ascii, "\"`>|\\^{}"); i >= 0 && !strings.Contains(ascii, `\`) {
		size = min(size, i)
	}
	return max(size, 1), false
}
