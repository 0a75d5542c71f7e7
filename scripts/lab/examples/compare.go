package examples

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// ellipsis ends a shortened text; alone it matches any text.
const ellipsis = "…"

// sameText reports a documented line that was not printed. Lines may be shortened. White space, and
// the rule under a table head, may differ, because they depend on the width of the other rows.
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

// sameJSON compares JSON values. The documented value may omit members of objects and the ends of
// arrays. Strings, booleans and whole numbers must be equal. Fractions are scores, which differ
// with the model, and must be fractions.
func sameJSON(shown, printed string) error {
	want, err := values(shown)
	if err != nil {
		return fmt.Errorf("the documented output is not JSON: %w", err)
	}
	got, err := values(printed)
	if err != nil {
		return fmt.Errorf("the printed output is not JSON: %w", err)
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d values were printed, %d are documented", len(got), len(want))
	}
	for i := range want {
		if err := same("", want[i], got[i]); err != nil {
			return err
		}
	}
	return nil
}

// values decodes concatenated values: a page may show several responses.
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
	differ := func() error {
		return fmt.Errorf("%s is %s, documented as %s", place(path), encoded(got), encoded(want))
	}
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
		number, is := got.(float64)
		if whole := want == math.Trunc(want); !is || whole && number != want || !whole && number == math.Trunc(number) {
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
