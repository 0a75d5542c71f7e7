package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The exit status says whether all is there, something is missing, or nothing was written.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	good, bad := path("good.csv", "Issue key,Summary,Sprint\nA-1,n,Spring\n"), path("bad.csv", "Issue key,Summary\nA-1,n\nA-2,\n")
	for _, c := range []struct {
		args   []string
		status int
		writes bool
		says   string
	}{
		{[]string{good}, 0, true, "columns left out"},
		{[]string{"--labels", "sprint", good}, 0, true, ""},
		{[]string{bad}, 1, true, "left out: "},
		{[]string{path("part.json", `{"issues":[{"key":"A-1","fields":{"summary":"n"}}],"isLast":false}`)}, 1, true, "the files are incomplete: the last page"},
		{[]string{"--out", filepath.Join(folder, "out"), good}, 0, false, ""},
		{[]string{"--out", folder, good}, 2, false, "is not empty"},
		{[]string{path("asked.csv", "Issue key,Summary,Comment\nA-1,n,c\n")}, 2, false, "who may read comments"},
		{[]string{path("none.csv", "a,b\n")}, 2, false, "no line at its beginning names the columns"},
		{[]string{filepath.Join(folder, "absent.csv")}, 2, false, "absent.csv"},
		{[]string{"--now", good}, 2, false, "wrong arguments: flag provided but not defined: -now (-h lists the options)\n"},
		{nil, 2, false, "name what to convert"},
		{[]string{"-h"}, 0, false, "-restricted keep"},
	} {
		var out, says bytes.Buffer
		if status := run(c.args, &out, &says); status != c.status || (out.Len() > 0) != c.writes || !strings.Contains(says.String(), c.says) {
			t.Errorf("%q: status %d, %d bytes, %s", c.args, status, out.Len(), says.String())
		}
	}
}
