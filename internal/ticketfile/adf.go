package ticketfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var errNotDocument = errors.New("not an Atlassian document: its type is not doc")

// node has the fields of a node that readADF reads:
// https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
type node struct {
	Type    string         `json:"type"`
	Text    string         `json:"text"`
	Attrs   map[string]any `json:"attrs"`
	Content []node         `json:"content"`
	Marks   []struct {
		Type  string         `json:"type"`
		Attrs map[string]any `json:"attrs"`
	} `json:"marks"`
}

// attr returns the first of these attributes that is a string, else "".
func (n node) attr(names ...string) string {
	for _, name := range names {
		if s, _ := n.Attrs[name].(string); s != "" {
			return s
		}
	}
	return ""
}

// readADF returns the text of adf, an object in Atlassian's document format. A node of unknown
// type contributes its children.
func readADF(adf json.RawMessage) (string, error) {
	var root node
	if err := json.Unmarshal(adf, &root); err != nil {
		return "", fmt.Errorf("read Atlassian document: %w", err)
	}
	if root.Type != "doc" {
		return "", errNotDocument
	}
	var w writer
	w.blocks(root.Content, "\n\n", 0)
	return string(w.text), nil
}

type writer struct{ text []byte }

func (w *writer) write(text string) { w.text = append(w.text, text...) }

// lead writes a separator or marker and what follows it. It reports whether anything followed: if
// not, neither is written. Every part is written once, in place, so a document's depth costs
// nothing.
func (w *writer) lead(separator string, follow func()) bool {
	before := len(w.text)
	w.write(separator)
	begin := len(w.text)
	if follow(); len(w.text) == begin {
		w.text = w.text[:before]
		return false
	}
	return true
}

// separators are what stands between the blocks in a node, by its type. Other nodes hold text.
var separators = map[string]string{
	"bulletList": "\n", "orderedList": "\n", "taskList": "\n", "decisionList": "\n", "listItem": "\n",
	"table": "\n", "tableRow": " | ", "tableCell": " ", "tableHeader": " ",
	"expand": "\n\n", "nestedExpand": "\n\n", "blockquote": "\n\n", "panel": "\n\n", "mediaGroup": "\n\n", "mediaSingle": "\n\n",
	"layoutSection": "\n\n", "layoutColumn": "\n\n", "bodiedExtension": "\n\n",
}

// blocks writes block nodes, separated if they have text. lists is the number of lists around them.
func (w *writer) blocks(nodes []node, separator string, lists int) {
	between := ""
	for _, n := range nodes {
		if w.lead(between, func() { w.block(n, lists) }) {
			between = separator
		}
	}
}

func (w *writer) block(n node, lists int) {
	if strings.HasSuffix(n.Type, "List") {
		lists++
	}
	content := func() { w.inline(n) }
	if separator, is := separators[n.Type]; is {
		content = func() { w.blocks(n.Content, separator, lists) }
	}
	if strings.HasSuffix(n.Type, "Item") {
		w.lead(strings.Repeat("  ", max(0, min(lists-1, 8)))+"- ", content)
		return
	}
	if title := n.attr("title"); title != "" { // of an expand
		w.write(title + "\n")
	}
	content()
}

// inline writes a node's text and the text of its descendants.
func (w *writer) inline(n node) {
	switch n.Type {
	case "text":
		w.write(n.Text)
		for _, mark := range n.Marks {
			if href, _ := mark.Attrs["href"].(string); mark.Type == "link" && href != "" && href != n.Text {
				w.write(" (" + href + ")")
			}
		}
		return
	case "hardBreak":
		w.write("\n")
	case "mention":
		if name := strings.TrimPrefix(n.attr("text", "id"), "@"); name != "" {
			w.write("@" + name)
		}
	case "date":
		if ms, err := strconv.ParseInt(n.attr("timestamp"), 10, 64); err == nil {
			w.write(time.UnixMilli(ms).UTC().Format("2006-01-02"))
		}
	case "inlineCard", "blockCard", "embedCard":
		w.write(n.attr("url"))
	case "media", "mediaInline":
		w.write(n.attr("alt"))
	default: // emoji and status keep their text in attributes
		w.write(n.Text + n.attr("text", "shortName"))
	}
	for i, child := range n.Content {
		// An unknown node may contain blocks, whose words must not run together.
		if i > 0 && child.Type != "text" && len(child.Content) > 0 {
			w.write("\n")
		}
		w.inline(child)
	}
}
