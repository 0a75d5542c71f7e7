package scripts

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The demo of a release has no other files than scripts/release lists, so it lists each script that
// one of them runs or sources.
func TestReleasedDemoIsComplete(t *testing.T) {
	t.Parallel()
	release, err := os.ReadFile("release")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)\ndemo='(.*?)'`).FindSubmatch(release)
	if list == nil {
		t.Fatal("scripts/release has no list of the demo's files")
	}
	used := regexp.MustCompile(`(?:\$here|\$\(dirname "\$\{BASH_SOURCE\[0\]\}"\))/([a-z.-]+)`)
	files, references := strings.Fields(string(list[1])), 0
	for _, file := range files {
		script, is := strings.CutPrefix(file, "scripts/")
		if !is {
			continue
		}
		text, err := os.ReadFile(script)
		if err != nil {
			t.Error(err)
		}
		for _, match := range used.FindAllSubmatch(text, -1) {
			references++
			if name := string(match[1]); name != ".." && !slices.Contains(files, "scripts/"+name) {
				t.Errorf("%s uses scripts/%s, which scripts/release does not list", file, name)
			}
		}
	}
	if references < 15 {
		t.Errorf("only %d uses of other scripts were found", references)
	}
}
