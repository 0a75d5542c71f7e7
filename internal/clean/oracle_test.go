package clean

import (
	"html"
	"net/url"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	markdown "github.com/yuin/goldmark/text"
)

// reader parses answers like a client with GitHub-flavoured Markdown and autolinks.
var reader = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList)).Parser()

// strange returns the images of a rendered answer and the link targets that occur in no source.
func strange(answer string, sources []string) (found []string) {
	source := []byte(answer)
	_ = ast.Walk(reader.Parse(markdown.NewReader(source)), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Image:
			found = append(found, "image "+string(n.Destination))
		case *ast.Link:
			if !occursIn(string(n.Destination), sources) {
				found = append(found, "link "+string(n.Destination))
			}
		case *ast.AutoLink:
			if label := string(n.Label(source)); n.AutoLinkType == ast.AutoLinkURL && !occursIn(label, sources) {
				found = append(found, "address "+label)
			}
		}
		return ast.WalkContinue, nil
	})
	return found
}

// occursIn reports whether a source contains the target, in any escaping.
func occursIn(target string, sources []string) bool {
	plain, err := url.PathUnescape(target)
	if err != nil {
		plain = target
	}
	for _, source := range sources {
		for _, form := range []string{target, plain, strings.Trim(target, punctuation), strings.Trim(plain, punctuation)} {
			if strings.Contains(source, form) || strings.Contains(html.UnescapeString(source), form) {
				return true
			}
		}
	}
	return false
}

// unseen returns the invisible characters of a text.
func unseen(text string) (found []rune) {
	for _, r := range text {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\ufeff' || r == '\u200b' || r == '\u2800' || r >= 0xE0000 && r <= 0xE0FFF {
			found = append(found, r)
		}
	}
	return found
}
