package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"

	"tasklens/internal/audience"
)

// matter is the front matter of a note: its values, or lists of values, by name in lower case.
type matter map[string][]string

// nested is the name of a list of the fields that have fields of their own, which are not read.
const nested = ""

func (m matter) first(name string, most int) string {
	if len(m[name]) == 0 {
		return ""
	}
	return shortLine(m[name][0], most)
}

// add adds a field, unless there is one of its name, and reports whether it did.
func (m matter) add(name string, values ...string) bool {
	name = strings.ToLower(name)
	if _, twice := m[name]; twice {
		return false
	}
	m[name] = values
	return true
}

var (
	yamlBlock   = regexp.MustCompile(`(?ms)\A\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\z)`)
	tomlBlock   = regexp.MustCompile(`(?ms)\A\s*\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\z)`)
	yamlField   = regexp.MustCompile(`^["']?[\p{L}_$][^\n:]{0,60}["']?[ \t]*:+(?:\s|$)`)
	oneWord     = regexp.MustCompile(`(?m)^["']?[^\s:]+:(?:\s|$)`)
	tomlField   = regexp.MustCompile(`(?m)^([\w."-]+)[ \t]*=`)
	continued   = regexp.MustCompile(`^(?:[ \t#}\]-]|$)`)
	placeholder = regexp.MustCompile(`\{\{|<%`)
	unfilled    = regexp.MustCompile(`^(?:\{\{[^}]*\}\}|<%.*%>)$`) // a placeholder alone
)

// frontMatter splits off YAML between two lines of dashes at the start, TOML between two of plus
// signs, or a JSON object, and says what limits the note: this, or what looks like it. What cannot
// be read is left out and named; deeper nesting is not read. A block that is none of these is text.
func frontMatter(text string) (fields matter, body string, problems []string, limit audience.Limit) {
	var values map[string]any
	var record json.RawMessage
	var err error
	found, table := yamlBlock.FindStringSubmatch(text), tomlBlock.FindStringSubmatch(text)
	object := json.NewDecoder(strings.NewReader(text))
	isYAML, isMatter, rest := found != nil, false, text
	switch {
	case isYAML:
		isMatter = strings.TrimSpace(found[1]) == "" || oneWord.MatchString(found[1])
		err = yaml.Unmarshal([]byte(found[1]), &values)
	case table != nil:
		found, isMatter = []string{table[0], table[1]}, tomlField.MatchString(table[1])
		err = toml.Unmarshal([]byte(table[1]), &values)
	case strings.HasPrefix(strings.TrimSpace(text), "{") && object.Decode(&record) == nil:
		found = []string{text[:object.InputOffset()], ""}
		isMatter = json.Unmarshal(record, &values) == nil && len(values) > 0 && strings.HasPrefix(strings.TrimLeft(text[len(found[0]):], " \t"), "\n")
	}
	if record == nil && found != nil && err == nil {
		record, _ = json.Marshal(values)
	}
	if record != nil {
		rest = text[len(found[0]):]
	}
	limit = cmp.Or(audience.Of(false, "", string(record)), audience.OfText(rest))
	if fields = (matter{}); !isMatter {
		return fields, text, nil, limit
	}
	if table != nil && err != nil {
		problems = append(problems, fmt.Sprintf("the front matter is read line by line: %v", err))
		top, _, _ := strings.Cut("\n"+found[1], "\n[") // before the first table
		found[1] = tomlField.ReplaceAllString(strings.TrimLeft(top, "\n"), "$1:")
	} else if !isYAML {
		same, _ := yaml.Marshal(values)
		found[1] = string(same)
	}
	// Field by field, so that one that is not valid costs no other.
	var parts []string
	for line := range strings.Lines(found[1]) {
		switch {
		case yamlField.MatchString(line):
			parts = append(parts, line)
		case !continued.MatchString(strings.TrimSuffix(line, "\n")) || len(parts) == 0 && strings.TrimSpace(line) != "" && line[0] != '#':
			return fields, text, nil, limit
		case len(parts) > 0:
			parts[len(parts)-1] += line
		}
	}
	for _, part := range parts {
		name, rest, _ := strings.Cut(part, ":")
		name, rest = strings.Trim(name, " \t\"'"), strings.TrimSpace(rest)
		values, isNested, ok := scalars(strings.ReplaceAll(part, "\t", "  "))
		ok = ok && !strings.HasPrefix(rest, "[[") // a wiki link
		switch {
		case placeholder.MatchString(part):
			problems = append(problems, fmt.Sprintf("%s %q is left out: it is a placeholder", name, shortLine(rest, maxKeyword)))
		case isNested:
			fields[nested] = append(fields[nested], name)
		case !ok && strings.Contains(rest, "\n"):
			problems = append(problems, fmt.Sprintf("%s is left out: it is not valid YAML", name))
		case !ok && !fields.add(name, rest), ok && !fields.add(name, values...): // a colon in a title, for example
			problems = append(problems, fmt.Sprintf("%s is there twice: the first counts", name))
		}
	}
	return fields, text[len(found[0]):], problems, limit
}

// scalars reads the value, or the list of values, of one field.
func scalars(part string) (values []string, isNested, ok bool) {
	var fields map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(part), &fields); err != nil {
		return nil, false, false
	}
	for _, node := range fields {
		for _, value := range append([]*yaml.Node{&node}, node.Content...) {
			if value.Kind == yaml.ScalarNode && value.Tag != "!!null" && node.Kind != yaml.MappingNode {
				values = append(values, value.Value)
			}
		}
		isNested = isNested || node.Kind == yaml.MappingNode && len(node.Content) > 0
	}
	return values, isNested, true
}
