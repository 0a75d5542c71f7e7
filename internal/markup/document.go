package markup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var errNotDocument = errors.New("not an Atlassian document: its type is not doc")

// node has the fields of a node that Document reads:
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

// Document returns the text of adf, an object in Atlassian's document format. A node of unknown
// type contributes its children.
func Document(adf json.RawMessage) (string, error) {
	var root node
	if err := json.Unmarshal(adf, &root); err != nil {
		return "", fmt.Errorf("read Atlassian document: %w", err)
	}
	if root.Type != "doc" {
		return "", errNotDocument
	}
	var w writer
	w.blocks(root.Content, "\n\n", 0)
	return w.String(), nil
}

type writer struct{ strings.Builder }

// blocks writes block nodes, separated if they have text.
func (w *writer) blocks(nodes []node, separator string, indent int) {
	before := w.Len()
	for _, n := range nodes {
		var part writer
		part.block(n, indent)
		if part.Len() == 0 {
			continue
		}
		if w.Len() > before {
			w.WriteString(separator)
		}
		w.WriteString(part.String())
	}
}

func (w *writer) block(n node, indent int) {
	switch n.Type {
	case "bulletList", "orderedList", "taskList", "decisionList":
		w.list(n, indent)
	case "table":
		w.blocks(n.Content, "\n", indent)
	case "tableRow":
		w.blocks(n.Content, " | ", indent)
	case "tableCell", "tableHeader":
		w.blocks(n.Content, " ", indent)
	case "expand", "nestedExpand":
		if s := n.attr("title"); s != "" {
			w.WriteString(s + "\n")
		}
		w.blocks(n.Content, "\n\n", indent)
	case "blockquote", "panel", "mediaGroup", "mediaSingle", "layoutSection", "layoutColumn", "bodiedExtension":
		w.blocks(n.Content, "\n\n", indent)
	default: // paragraphs, headings, code blocks and unknown types
		w.inline(n)
	}
}

// list writes one item per line. A nested list follows its item, indented.
func (w *writer) list(n node, indent int) {
	number := 1
	if first, ok := n.Attrs["order"].(float64); ok && first >= 0 && first < 1e9 {
		number = int(first)
	}
	first := true
	for _, item := range n.Content {
		var part writer
		if item.Type == "listItem" {
			part.blocks(item.Content, "\n", indent+1)
		} else if strings.HasSuffix(item.Type, "List") {
			part.list(item, indent+1)
		} else {
			part.inline(item)
		}
		if part.Len() == 0 {
			continue
		}
		if !first {
			w.WriteByte('\n')
		}
		first = false
		if strings.HasSuffix(item.Type, "List") {
			w.WriteString(part.String())
			continue
		}
		w.WriteString(strings.Repeat("  ", min(indent, 8)))
		if n.Type == "orderedList" {
			w.WriteString(strconv.Itoa(number) + ". ")
			number++
		} else {
			w.WriteString("- ")
		}
		w.WriteString(part.String())
	}
}

// inline writes a node's text and the text of its descendants.
func (w *writer) inline(n node) {
	switch n.Type {
	case "text":
		w.WriteString(n.Text)
		for _, mark := range n.Marks {
			if href, _ := mark.Attrs["href"].(string); mark.Type == "link" && href != "" && href != n.Text {
				w.WriteString(" (" + href + ")")
			}
		}
		return
	case "hardBreak":
		w.WriteByte('\n')
	case "mention":
		if name := strings.TrimPrefix(n.attr("text", "id"), "@"); name != "" {
			w.WriteString("@" + name)
		}
	case "date":
		if ms, err := strconv.ParseInt(n.attr("timestamp"), 10, 64); err == nil {
			w.WriteString(time.UnixMilli(ms).UTC().Format("2006-01-02"))
		}
	case "inlineCard", "blockCard", "embedCard":
		w.WriteString(n.attr("url"))
	case "media", "mediaInline":
		w.WriteString(n.attr("alt"))
	default: // emoji and status keep their text in attributes
		w.WriteString(n.Text + n.attr("text", "shortName"))
	}
	for i, child := range n.Content {
		// An unknown node may contain blocks, whose words must not run together.
		if i > 0 && child.Type != "text" && len(child.Content) > 0 {
			w.WriteByte('\n')
		}
		w.inline(child)
	}
}
