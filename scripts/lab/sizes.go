package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// reportSizes prints how big the project is, for a comparison with an earlier state: what a person
// who takes it over has to read.
func reportSizes(_ context.Context, args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	sql, err := readFiles("supabase/migrations", ".sql")
	if err != nil {
		return err
	}
	service, tests, packages, err := countGo("server", "internal")
	if err != nil {
		return err
	}
	prose, err := readFiles("docs", ".md")
	if err != nil {
		return err
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	document, err := os.ReadFile("server/api/operations.md")
	if err != nil {
		return err
	}
	config, err := os.ReadFile("server/config.go")
	if err != nil {
		return err
	}
	statements := sqlComment.ReplaceAllString(strings.Join(sql, "\n"), "")
	functions := readFunctions(statements)
	longest := slices.MaxFunc(functions, func(a, b sqlFunction) int { return a.lines - b.lines })
	reached, chain := reach(functions, "public.search_hybrid")
	for _, row := range []struct {
		what  string
		value any
	}{
		{"SQL of the migrations without comments, bytes", len(statements)},
		{"migrations", len(sql)},
		{"functions", len(functions)},
		{"lines of the longest function, " + longest.name, longest.lines},
		{"functions that search_hybrid reaches", reached},
		{"functions in its longest chain", chain},
		{"triggers", len(sqlTrigger.FindAllString(statements, -1))},
		{"Go of the service without tests, lines", service},
		{"Go tests of the service, lines", tests},
		{"packages under internal/", packages},
		{"settings", strings.Count(string(config), "`env:\"")},
		{"lines of the API's document, written by hand", strings.Count(string(document), "\n")},
		{"words of docs and README", len(strings.Fields(strings.Join(prose, "\n") + string(readme)))},
	} {
		fmt.Printf("%-52s %8d\n", row.what, row.value)
	}
	return nil
}

var (
	sqlComment = regexp.MustCompile(`(?m)(^|[ \t])[ \t]*-- .*$`)
	sqlTrigger = regexp.MustCompile(`(?m)^\s*create trigger `)
	sqlHead    = regexp.MustCompile(`^create function ((?:public|tasklens)\.[a-z_]+)\(`)
	sqlEnd     = regexp.MustCompile(`\$\$;$|^return [^;]*;$`)
	sqlCall    = regexp.MustCompile(`\b((?:public|tasklens)\.[a-z_]+)\(`)
)

// sqlFunction is one "create function" statement.
type sqlFunction struct {
	name  string
	lines int
	calls []string // functions named in its body
}

func readFunctions(statements string) (functions []sqlFunction) {
	var open *sqlFunction
	for line := range strings.Lines(statements) {
		line = strings.TrimRight(line, " \n")
		if head := sqlHead.FindStringSubmatch(line); head != nil {
			open = &sqlFunction{name: head[1]}
			line = strings.TrimPrefix(line, head[0])
		}
		if open == nil {
			continue
		}
		open.lines++
		for _, call := range sqlCall.FindAllStringSubmatch(line, -1) {
			open.calls = append(open.calls, call[1])
		}
		if sqlEnd.MatchString(line) {
			functions = append(functions, *open)
			open = nil
		}
	}
	return functions
}

// reach returns how many functions a call of this one can reach, itself included, and how many the
// longest chain of calls has. A function that calls itself counts once in a chain.
func reach(functions []sqlFunction, from string) (reached, chain int) {
	byName := make(map[string]sqlFunction, len(functions))
	for _, f := range functions {
		byName[f.name] = f
	}
	depths := map[string]int{}
	var visit func(name string) int
	visit = func(name string) int {
		if depth, known := depths[name]; known {
			return depth
		}
		depths[name] = 0 // while its calls are visited
		deepest := 0
		for _, call := range byName[name].calls {
			if _, ours := byName[call]; ours {
				deepest = max(deepest, visit(call))
			}
		}
		depths[name] = deepest + 1
		return depths[name]
	}
	chain = visit(from)
	return len(depths), chain
}

// readFiles returns the contents of the files in a folder that have this suffix.
func readFiles(folder, suffix string) (contents []string, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*"+suffix))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no %s files in %s; run it in the project's folder: %w", suffix, folder, err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		contents = append(contents, string(content))
	}
	return contents, nil
}

// countGo counts the lines of the Go files in these folders, and the packages under internal/. What
// only tests import counts as tests.
func countGo(folders ...string) (service, tests, packages int, err error) {
	counted := map[string]bool{}
	for _, folder := range folders {
		err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			folder := filepath.Dir(path)
			lines := strings.Count(string(content), "\n")
			if strings.HasSuffix(path, "_test.go") || slices.Contains([]string{"testbed", "apitest"}, filepath.Base(folder)) {
				tests += lines
				return nil
			}
			service += lines
			if strings.HasPrefix(folder, "internal") && !counted[folder] {
				counted[folder] = true
				packages++
			}
			return nil
		})
		if err != nil {
			return 0, 0, 0, err
		}
	}
	return service, tests, packages, nil
}
