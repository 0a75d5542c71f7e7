package rescue_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// development matches code that the service never runs.
var development = regexp.MustCompile(`^internal/(testbed|rescue)/|^server/api/apitest/|_test\.go$`)

// begins are the calls that run a function on another goroutine.
var begins = []string{"Go", "TryGo", "DoChan", "AfterFunc", "SetBodyStreamWriter"}

// elsewhere lists functions whose goroutines call rescue further down the stack, or cannot panic.
var elsewhere = map[string]string{
	"internal/querylog/backlog.go start": "process rescues each attempt to write",
	"internal/index/store.go callStore":  "cancels",
	"internal/openai/chat.go listen":     "cancels",
	"server/api/api.go Shutdown":         "cancels",
	"server/backfill.go workOff":         "the worker rescues its batches",
	"server/main.go untilSignalled":      "waits for signals",
	"server/process.go serveMetrics":     "net/http rescues its handlers",
	"server/serve.go serve":              "runWorker and outermost rescue",
}

// Every goroutine of the service runs under rescue, so that no panic ends the process.
func TestEveryGoroutineIsRescued(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	used := map[string]bool{}
	for _, folder := range []string{"internal", "server"} {
		err := fs.WalkDir(root, folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || development.MatchString(path) {
				return err
			}
			text, err := fs.ReadFile(root, path)
			if err != nil {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, text, 0)
			if err != nil {
				return err
			}
			for _, declared := range file.Decls {
				function, is := declared.(*ast.FuncDecl)
				if !is {
					continue
				}
				ast.Inspect(function, func(node ast.Node) bool {
					name := path + " " + function.Name.Name
					if !concurrent(node) || rescued(node) {
						return true
					}
					if used[name] = true; elsewhere[name] == "" {
						t.Errorf("%s: this goroutine does not call rescue", files.Position(node.Pos()))
					}
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range elsewhere {
		if !used[name] {
			t.Errorf("%s is listed but starts no goroutine without rescue", name)
		}
	}
}

func concurrent(node ast.Node) bool {
	if _, is := node.(*ast.GoStmt); is {
		return true
	}
	call, is := node.(*ast.CallExpr)
	if !is {
		return false
	}
	selector, is := call.Fun.(*ast.SelectorExpr)
	return is && slices.Contains(begins, selector.Sel.Name)
}

// rescued reports whether a goroutine's code references this package.
func rescued(node ast.Node) (named bool) {
	ast.Inspect(node, func(part ast.Node) bool {
		name, is := part.(*ast.Ident)
		named = named || is && name.Name == "rescue"
		return !named
	})
	return named
}
