package export

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// node is a node of an Atlassian document, or a mark of a text:
// https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
type node struct {
	Type    string
	Text    string
	Attrs   map[string]any
	Content []node
	Marks   []node
}

// attr returns the text of an attribute, or of one within another's object.
func (n node) attr(path ...string) string {
	attrs := n.Attrs
	for _, outer := range path[:len(path)-1] {
		attrs, _ = attrs[outer].(map[string]any)
	}
	text, _ := attrs[path[len(path)-1]].(string)
	return text
}

// readADF returns an object in Atlassian's document format as Markdown, and whether it is one.
func readADF(adf []byte, people people) (markdown string, is bool) {
	var root node
	if json.Unmarshal(adf, &root) != nil || root.Type != "doc" {
		return "", false
	}
	w := writer{people: people}
	w.children(root, 0)
	return string(w.text), true
}

type writer struct {
	text   []byte
	people people
	inCell bool // of a table, which is one line
}

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
	"table": "\n", "tableRow": " | ",
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
	between, begin := "", len(w.text)
	for i, child := range n.Content {
		if w.lead(between, func() { w.lead(marker(n, i, lists), func() { w.node(child, lists) }) }) {
			between = separator
		} else if n.Type == "tableRow" { // an empty cell keeps the others in their columns
			w.write(between)
			between = separator
		}
	}
	if n.Type == "tableRow" && strings.Trim(string(w.text[begin:]), separator) == "" {
		w.text = w.text[:begin]
	}
}

// marker returns what stands before a child that is a heading or an item.
func marker(n node, i, lists int) string {
	child, indent := n.Content[i], strings.Repeat("   ", max(0, min(lists-1, 8)))
	switch level, _ := child.Attrs["level"].(float64); {
	case child.Type == "heading" && level >= 1 && level <= 6:
		return strings.Repeat("#", int(level)) + " "
	case !strings.HasSuffix(child.Type, "Item"):
		return ""
	case n.Type == "orderedList":
		first, _ := n.Attrs["order"].(float64)
		return indent + strconv.Itoa(max(int(first), 1)+i) + ". "
	}
	return indent + "- " + states[child.Type+" "+child.attr("state")]
}

// states are what stands before tasks and decisions, by their type and state.
var states = map[string]string{
	"taskItem DONE": "[x] ", "taskItem TODO": "[ ] ", "blockTaskItem DONE": "[x] ", "blockTaskItem TODO": "[ ] ", "decisionItem DECIDED": "Decision: ", "decisionItem UNDECIDED": "Open decision: ",
}

// node writes a node's own text, then its children.
func (w *writer) node(n node, lists int) {
	w.write(n.marked(w.own(n)))
	if title := n.attr("title"); title != "" { // of an expand
		w.write(title + "\n")
	}
	switch {
	case n.Type == "codeBlock":
		var code strings.Builder
		for _, line := range n.Content {
			code.WriteString(line.Text)
		}
		switch {
		case code.Len() > 0 && w.inCell:
			w.write("`" + code.String() + "`")
		case code.Len() > 0:
			w.write(fence(code.String(), oneLine(n.attr("language"))))
		}
	case strings.HasSuffix(n.Type, "List"):
		w.children(n, lists+1)
	case (n.Type == "tableCell" || n.Type == "tableHeader") && !w.inCell:
		begin := len(w.text)
		w.inCell = true
		w.children(n, lists)
		w.inCell = false
		w.text = append(w.text[:begin], oneLine(string(w.text[begin:]))...)
	default:
		w.children(n, lists)
	}
}

// own returns the text of a node or, of an element such as a mention, an emoji, a card or a file,
// what stands for it.
func (w *writer) own(n node) string {
	switch n.Type {
	case "placeholder": // a hint to who writes
		return ""
	case "hardBreak":
		return "\n"
	case "mention":
		return cmp.Or(n.attr("text"), "@"+w.people.name(n.attr("id")))
	case "date":
		ms, err := strconv.ParseInt(n.attr("timestamp"), 10, 64)
		if err != nil {
			return ""
		}
		return time.UnixMilli(ms).UTC().Format(time.DateOnly)
	}
	return cmp.Or(n.Text, n.attr("text"), n.attr("shortName"), n.attr("url"), n.attr("data", "url"), n.attr("alt"))
}

// marks are what stands around a text with a mark in Markdown, beside no space.
var marks = map[string]string{"code": "`", "strong": "**", "em": "_", "strike": "~~"}

// marked returns a node's text with its marks.
func (n node) marked(text string) string {
	link := ""
	for _, mark := range n.Marks[:min(len(n.Marks), len(marks)+1)] {
		if sign := marks[mark.Type]; strings.TrimSpace(text) == text && text != "" {
			text = sign + text + sign
		}
		if href := mark.attr("href"); href != n.Text && href != "" {
			link = " (" + href + ")"
		}
	}
	return text + link
}
