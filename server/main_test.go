package main

import (
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"tasklens/internal/testbed"
)

// A verb that is called wrongly says what is wrong, before it does anything.
func TestWrongArgumentsAreNamed(t *testing.T) {
	t.Parallel()
	folder := testbed.Folder(t, "files", map[string]string{"notes/a.md": "A", "a.csv": "Issue key,Summary\n"})
	notes, tickets := filepath.Join(folder, "notes"), filepath.Join(folder, "a.csv")
	for line, want := range map[string]string{
		"":                             "there is no verb",
		"--help":                       "there is no verb",
		"serv":                         `there is no verb "serv"`,
		"serve --port 1":               "flag provided but not defined: -port",
		"worker now":                   `"now" is one too many`,
		"version 2":                    `"2" is one too many`,
		"health x":                     `"x" is one too many`,
		"check --yaml":                 "flag provided but not defined: -yaml",
		"enrich --retry more":          `"more" is one too many`,
		"backfill --price much":        `invalid value "much" for flag -price`,
		"reembed --estimate --abandon": "give either --estimate or --abandon",
		"import":                       "name what to import",
		"import --prune-many x.json":   "--prune-many goes with --prune",
		"import none.csv":              "none.csv: no such file",
		"import --prune " + notes:      "tasklens-convert " + notes + " | tasklens import -",
		"import " + tickets:            "a.csv is not a folder of JSON Lines (manifest.json,",
		"import --prefix A- " + notes:  "flag provided but not defined: -prefix",
	} {
		if _, err := runVerb(t.Context(), strings.Fields(line)); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, not %s", line, err, want)
		}
	}
	for _, verb := range []string{"serve", "import", "reembed"} {
		if _, err := runVerb(t.Context(), []string{verb, "--help"}); !errors.Is(err, flag.ErrHelp) { // which prints how it is called
			t.Errorf("%s --help: %v", verb, err)
		}
	}
}
