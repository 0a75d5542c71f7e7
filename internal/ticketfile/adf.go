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

// blocks writes block nodes, separated if they have text.
func (w *writer) blocks(nodes []node, separator string, indent int) {
	between := ""
	for _, n := range nodes {
		if w.lead(between, func() { w.block(n, indent) }) {
			between = separator
		}
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
			w.write(s + "\n")
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
	line := ""
	for _, item := range n.Content {
		nested := item.Type != "listItem" && strings.HasSuffix(item.Type, "List")
		marker := line
		if !nested && n.Type == "orderedList" {
			marker += strings.Repeat("  ", min(indent, 8)) + strconv.Itoa(number) + ". "
		} else if !nested {
			marker += strings.Repeat("  ", min(indent, 8)) + "- "
		}
		written := w.lead(marker, func() {
			switch {
			case nested:
				w.list(item, indent+1)
			case item.Type == "listItem":
				w.blocks(item.Content, "\n", indent+1)
			default:
				w.inline(item)
			}
		})
		if written {
			line = "\n"
		}
		if written && !nested {
			number++
		}
	}
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
