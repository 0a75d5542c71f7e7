package examples

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSameJSON(t *testing.T) {
	t.Parallel()
	const printed = `{"results":[{"key":"TX-1","score":0.5,"rank":3,"text":"Login fails","status":null},{"key":"TX-2"}],"more":false}`
	for name, c := range map[string]struct{ shown, wrong string }{
		"the same":        {printed, ""},
		"less":            {`{"results":[{"key":"TX-1"}]}`, ""},
		"another score":   {`{"results":[{"score":0.7}]}`, ""},
		"no score":        {`{"results":[{"score":12}]}`, "results[0].score is 0.5, documented as 12"},
		"another number":  {`{"results":[{"rank":4}]}`, "results[0].rank is 3, documented as 4"},
		"not whole":       {`{"results":[{"rank":3.5}]}`, "results[0].rank is 3, documented as 3.5"},
		"shortened":       {`{"results":[{"text":"Log…"}]}`, ""},
		"any":             {`{"results":[{"text":"…"}]}`, ""},
		"another string":  {`{"results":[{"key":"TX-9"}]}`, `results[0].key is "TX-1", documented as "TX-9"`},
		"another prefix":  {`{"results":[{"text":"Out…"}]}`, `results[0].text is "Login fails"`},
		"another boolean": {`{"more":true}`, "more is false"},
		"another type":    {`{"results":[{"score":"0.5"}]}`, "results[0].score is 0.5"},
		"not null":        {`{"results":[{"key":null}]}`, "results[0].key is"},
		"null":            {`{"results":[{"status":"Done"}]}`, "results[0].status is null"},
		"no member":       {`{"facets":{}}`, `the value has no member "facets"`},
		"too few":         {`{"results":[{},{},{}]}`, "results is"},
		"none":            {`{"results":[]}`, "results is"},
		"two values":      {`{} {}`, "1 values were printed, 2 are documented"},
		"no JSON":         {`{"results"`, "the documented output is not JSON"},
	} {
		err := sameJSON(c.shown, printed)
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := sameJSON(`{}`, "Bad Gateway"); err == nil {
		t.Error("invalid JSON was accepted")
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	const fence = "```"
	for name, c := range map[string]struct{ text, wrong string }{
		"holds":             {fence + "sh run\necho one; echo \"two 127.0.0.1:8080\"\n" + fence + "\nIt prints:\n" + fence + "text output\none\ntwo 127.0.0.1:8080\n" + fence, ""},
		"a list's":          {"- so:\n\n  " + fence + "sh run\n  true\n  " + fence, ""},
		"SQL":               {fence + "sql run\nselect 1\n" + fence + "\n" + fence + "text output\nselect     1\n---+---\nrollback…\n" + fence, ""},
		"Python":            {fence + "python run\nprint(1)\n" + fence + "\n" + fence + "text output\nprint(1)\n" + fence, ""},
		"other Python":      {fence + "python run\nprint(1)\n" + fence + "\n" + fence + "text output\n1\n" + fence, `the line "1" was not printed`},
		"no Python":         {fence + "python run\nabsent\n" + fence + "\n" + fence + "text output\n1\n" + fence, ""},
		"JSON":              {fence + "sh run\necho '{\"a\":0.1}'\n" + fence + "\n" + fence + "json output\n{\"a\": 0.2}\n" + fence, ""},
		"a diagram":         {fence + "mermaid\na --> b\n" + fence + "\n" + fence + "sh run\ntrue\n" + fence, ""},
		"fails":             {fence + "sh run\necho why >&2; false\n" + fence, "a.md:1: echo why >&2; false: exit status 1: why"},
		"an early failure":  {fence + "sh run\nfalse | true\n" + fence, "exit status 1"},
		"another output":    {fence + "sh run\necho one\n" + fence + "\n" + fence + "text output\ntwo\n" + fence, `the line "two" was not printed`},
		"output of nothing": {fence + "json output\n{}\n" + fence, "an output without a block"},
		"nothing is run":    {"text", "no examples found"},
		"not marked":        {fence + "sh\nfalse\n" + fence + "\n" + fence + "sh run\ntrue\n" + fence, ""},
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "a.md"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(root, "scripts"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "scripts/psql"), []byte("#!/bin/sh\nexec cat\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		const python = "#!/bin/sh\ntext=$(cat)\n[ \"$text\" != absent ] || exit 77\necho \"$text\"\n"
		if err := os.WriteFile(filepath.Join(root, "scripts/python"), []byte(python), 0o700); err != nil {
			t.Fatal(err)
		}
		run := Run{Root: root, Service: "127.0.0.1:9"}
		var out bytes.Buffer
		err := run.Do(t.Context(), []string{"a.md"}, &out)
		text := out.String()
		if err != nil {
			text += err.Error()
		}
		if (err == nil) != (c.wrong == "") || !strings.Contains(text, c.wrong) {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
}
