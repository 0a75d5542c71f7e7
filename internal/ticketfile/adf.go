package ticketfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	number  int            // in an ordered list
	Marks   []struct {
		Type  string         `json:"type"`
		Attrs map[string]any `json:"attrs"`
	} `json:"marks"`
}

// readADF returns adf, an object in Atlassian's document format, as Markdown.
func readADF(adf json.RawMessage, people people) (string, error) {
	var root node
	if err := json.Unmarshal(adf, &root); err != nil {
		return "", fmt.Errorf("read Atlassian document: %w", err)
	}
	if root.Type != "doc" {
		return "", errNotDocument
	}
	w := writer{people: people}
	w.children(root, 0)
	return string(w.text), nil
}

type writer struct {
	text   []byte
	people people
}

// marks are what stands around a text with a mark in Markdown.
var marks = map[string]string{"code": "`", "strong": "**", "em": "_", "strike": "~~"}

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

// separators are what stands between the blocks in a node, by its type; else a blank line.
var separators = map[string]string{
	"bulletList": "\n", "orderedList": "\n", "taskList": "\n", "decisionList": "\n", "listItem": "\n",
	"table": "\n", "tableRow": " | ", "tableCell": " ", "tableHeader": " ",
}

// children writes the nodes in a node: blocks, if one of them has content of its own, or parts of a
// line. lists is the number of lists around them.
func (w *writer) children(n node, lists int) {
	separator := ""
	if slices.ContainsFunc(n.Content, func(child node) bool { return len(child.Content) > 0 }) {
		separator = "\n\n"
		if its, known := separators[n.Type]; known {
			separator = its
		}
	}
	between := ""
	for _, child := range n.Content {
		if w.lead(between, func() { w.node(child, lists) }) {
			between = separator
		}
	}
}

// node writes a node: its own text or, of an element such as a mention, an emoji, a card or a file,
// what stands for it; then its children.
func (w *writer) node(n node, lists int) {
	switch n.Type {
	case "hardBreak":
		w.write("\n")
	case "date":
		timestamp, _ := n.Attrs["timestamp"].(string)
		if ms, err := strconv.ParseInt(timestamp, 10, 64); err == nil {
			w.write(time.UnixMilli(ms).UTC().Format(time.DateOnly))
		}
	case "mention":
		id, _ := n.Attrs["id"].(string)
		name, _ := n.Attrs["text"].(string)
		w.write(cmp.Or(name, "@"+w.people.name(id)))
	case "text":
		w.write(n.marked())
	default:
		w.write(n.Text)
		for _, name := range []string{"text", "shortName", "url", "alt"} {
			if text, _ := n.Attrs[name].(string); text != "" {
				w.write(text)
				break
			}
		}
	}
	for _, mark := range n.Marks {
		if href, _ := mark.Attrs["href"].(string); mark.Type == "link" && href != "" && href != n.Text {
			w.write(" (" + href + ")")
		}
	}
	if title, _ := n.Attrs["title"].(string); title != "" { // of an expand
		w.write(title + "\n")
	}
	switch level, _ := n.Attrs["level"].(float64); {
	case strings.HasSuffix(n.Type, "List"):
		for i := range n.Content {
			if n.Type == "orderedList" {
				n.Content[i].number = i + 1
			}
		}
		w.children(n, lists+1)
	case strings.HasSuffix(n.Type, "Item"):
		marker := "- "
		if n.number > 0 {
			marker = strconv.Itoa(n.number) + ". "
		}
		w.lead(strings.Repeat("   ", max(0, min(lists-1, 8)))+marker, func() { w.children(n, lists) })
	case n.Type == "heading" && level >= 1 && level <= 6:
		w.lead(strings.Repeat("#", int(level))+" ", func() { w.children(n, lists) })
	case n.Type == "codeBlock":
		var code strings.Builder
		for _, line := range n.Content {
			code.WriteString(line.Text)
		}
		if language, _ := n.Attrs["language"].(string); code.Len() > 0 {
			w.write(fence(code.String(), oneLine(language)))
		}
	default:
		w.children(n, lists)
	}
}

// marked returns a text with the signs of its marks, which Markdown wants beside no space.
func (n node) marked() string {
	text := n.Text
	for _, mark := range n.Marks[:min(len(n.Marks), len(marks))] {
		if around := marks[mark.Type]; strings.TrimSpace(text) == text && text != "" {
			text = around + text + around
		}
	}
	return text
}
