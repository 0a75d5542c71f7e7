package clean

import (
	"strings"
	"testing"
)

// Code cites nothing and stays as it is, in answers and in the sources of a prompt. What stands
// before and after it is read.
func TestCode(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"fence":               "```go\nx := rows[1] + rows[2](y)\n```\n",
		"tildes":              "~~~\nids = [1, 2, 3]\n~~~\n",
		"longer fence":        "````\n```\nrows[1]\n```\n````\n",
		"fence in a list":     "1. Do:\n\n   ```sh\n   f[1](x) ${A[1]}\n   ```\n",
		"fence in a quote":    "> ```\n> rows[1]\n> ```\n",
		"blank lines in it":   "```\na\n\nrows[1]\n\n```\n",
		"four blanks":         "\n    rows[1] = [2]\n\n    rows[3]\n\n",
		"a tab":               "\n\trows[1]\n\n",
		"below a list's item": "- one\n\n      rows[1]\n\n",
		"span":                "`rows[1]`",
		"two backticks":       "``a ` rows[1]``",
		"three on a line":     "```rows[1]```",
		"with blanks":         "`echo ${PIPESTATUS[0]} [1] [2]`",
		"over two lines":      "`first\nrows[1]`",
		"call":                "`handlers[1](event)`",
		"Python's slice":      "`a[1:3]` `^[0-9]{4}$`",
		"wide brackets":       "`【1】`",
		"link in a fence":     "```\n[1](x) ![2](y)\n```\n",
	} {
		text := "So [1]\n\n" + code
		got, _ := checked(t, []string{"", "", ""}, text)
		if got.text != strings.TrimRight(text, "\n") || got.cited != "100" || got.unknown > 0 {
			t.Errorf("%s: %q was checked to %+v", name, text, got)
		}
		checkCuts(t, text)
		if want := "So (1)\n\n" + code; Uncite(text, 3, true) != want {
			t.Errorf("%s: of a source %q is shown as %q", name, text, Uncite(text, 3, true))
		}
	}
	for name, c := range map[string]struct{ text, cited string }{
		"an open fence":       {"So [2].\n```\nrows[1]", "010"},
		"cut off":             {"So [2].\n~~~\nrows[1", "010"},
		"after a fence":       {"```\nrows[1]\n```\nSo [2].", "010"},
		"after a span":        {"`rows[1]` so [2]", "010"},
		"a lone backtick":     {"Press ` for [1], then [2].", "110"},
		"one in each item":    {"- press ` [1]\n- then ` [2]", "110"},
		"an escaped one":      {"\\`[1]`", "100"},
		"other backticks":     {"` [1] `` [2]", "110"},
		"continued list":      {"- one\n\n    two [1]", "100"},
		"continued paragraph": {"one\n    two [1]", "100"},
	} {
		if got, _ := checked(t, []string{"", "", ""}, c.text); got.cited != c.cited || got.text != c.text {
			t.Errorf("%s: %q was checked to %+v", name, c.text, got)
		}
		checkCuts(t, c.text)
	}
}

// A span is held back only so long.
func TestLongSpan(t *testing.T) {
	t.Parallel()
	text := "` " + strings.Repeat("word ", maxSpan/5) + "[1] `"
	if got, _ := checked(t, []string{""}, text); got.text != text || got.cited != "1" {
		t.Errorf("it was checked to %+v", got)
	}
}

// An index that a source has is no citation, wherever the model writes it; another one is.
func TestIndexOfASource(t *testing.T) {
	t.Parallel()
	sources := []string{"Set rows[1] or grid[1][2].", "", ""}
	for text, cited := range map[string]string{
		"It sets rows[1].": "000", "It sets grid[1][2].": "000", "It sets cols[1].": "100", "It sets rows [1].": "100", "It sets rows[2].": "010", "It sets (rows[1]) [3].": "001",
	} {
		if got, _ := checked(t, sources, text); got.text != text || got.cited != cited {
			t.Errorf("%q was checked to %+v", text, got)
		}
		checkCuts(t, text)
	}
	for text, want := range map[string]string{
		"Set rows[1], see [2], [7] or [0-9].":      "Set rows[1], see (2), [7] or [0-9].",
		"A part of a block\nrows[1]\n```\nrows[2]": "A part of a block\nrows[1]\n```\nrows[2]",
	} {
		if got := Uncite(text, 3, true); got != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	if got := Uncite("Set rows[1].", 3, false); got != "Set rows(1)." {
		t.Errorf("a former answer is shown as %q", got)
	}
}
