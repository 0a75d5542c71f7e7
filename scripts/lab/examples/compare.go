package examples

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ellipsis ends a text that is shortened; alone it stands for any.
const ellipsis = "…"

// sameText says which line of what is shown was not printed. Lines may be shortened; white space,
// and the rule under the head of a table, follow the widths of what else is printed.
func sameText(shown, printed string) error {
	var lines []string
	for line := range strings.Lines(printed) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	for line := range strings.Lines(shown) {
		line = strings.Join(strings.Fields(line), " ")
		if strings.Trim(line, "-+") == "" {
			continue
		}
		if !slices.ContainsFunc(lines, func(l string) bool { return like(line, l) }) {
			return fmt.Errorf("the line %q was not printed", line)
		}
	}
	return nil
}

func like(shown, printed string) bool {
	if prefix, cut := strings.CutSuffix(shown, ellipsis); cut {
		return strings.HasPrefix(printed, prefix)
	}
	return shown == printed
}

// sameJSON compares values of JSON by shape. What is shown may leave out members of objects and the
// ends of arrays; strings and booleans must be the same, numbers and null of one type.
func sameJSON(shown, printed string) error {
	want, err := values(shown)
	if err != nil {
		return fmt.Errorf("what is shown is not JSON: %w", err)
	}
	got, err := values(printed)
	if err != nil {
		return fmt.Errorf("what was printed is not JSON: %w", err)
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d values were printed, and %d are shown", len(got), len(want))
	}
	for i := range want {
		if err := same("", want[i], got[i]); err != nil {
			return err
		}
	}
	return nil
}

// values are those of a text, one after the other: a page may show several responses.
func values(text string) (all []any, err error) {
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var value any
		if err := decoder.Decode(&value); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
}

func same(path string, want, got any) error {
	differ := func() error { return fmt.Errorf("%s is %s, and %s is shown", place(path), encoded(got), encoded(want)) }
	switch want := want.(type) {
	case map[string]any:
		object, is := got.(map[string]any)
		if !is {
			return differ()
		}
		for name, member := range want {
			there, is := object[name]
			if !is {
				return fmt.Errorf("%s has no member %q", place(path), name)
			}
			if err := same(path+"."+name, member, there); err != nil {
				return err
			}
		}
	case []any:
		list, is := got.([]any)
		if !is || len(list) < len(want) || len(want) == 0 && len(list) > 0 {
			return differ()
		}
		for i := range want {
			if err := same(fmt.Sprintf("%s[%d]", path, i), want[i], list[i]); err != nil {
				return err
			}
		}
	case string:
		if text, is := got.(string); !is || !like(want, text) {
			return differ()
		}
	case float64:
		if _, is := got.(float64); !is {
			return differ()
		}
	default: // a boolean or null
		if want != got {
			return differ()
		}
	}
	return nil
}

func place(path string) string {
	if path == "" {
		return "the value"
	}
	return strings.TrimPrefix(path, ".")
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	const most = 120
	if len(text) > most {
		return string(text[:most]) + ellipsis
	}
	return string(text)
}
