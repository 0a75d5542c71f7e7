package api_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// documentedCodes returns the problem codes with their statuses, from the table in docs/api.md.
var documentedCodes = sync.OnceValue(func() map[string]int {
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		panic(err)
	}
	codes := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| (\\d{3}) \\| `(\\w+)` \\|").FindAllSubmatch(text, -1) {
		codes[string(row[2])], _ = strconv.Atoi(string(row[1]))
	}
	return codes
})

// seenCodes are the codes that some test received.
var seenCodes sync.Map

// checkCode compares a problem's code with the table.
func checkCode(t testing.TB, status int, code string) {
	t.Helper()
	seenCodes.Store(code, true)
	if want, ok := documentedCodes()[code]; !ok || want != status {
		t.Errorf("a problem has the code %q and the status %d, which docs/api.md does not have", code, status)
	}
}

// wantTokenCode checks that a client can tell an expired token from an invalid one. name is the
// test's name for the token.
func (r *response) wantTokenCode(name string) {
	r.t.Helper()
	want := map[string]string{"none": "token_missing", "expired": "token_expired"}[name]
	if got := r.problem().Code; got != cmp.Or(want, "token_invalid") {
		r.t.Errorf("%s: the code is %q", name, got)
	}
}

// docs/api.md and the OpenAPI document list the same codes.
func TestProblemCodes(t *testing.T) {
	t.Parallel()
	var enum []string
	for _, code := range theDocument(t).Components.Schemas["ProblemCode"].Value.Enum {
		enum = append(enum, fmt.Sprint(code))
	}
	slices.Sort(enum)
	if told := slices.Sorted(maps.Keys(documentedCodes())); len(told) == 0 || !slices.Equal(told, enum) {
		t.Errorf("docs/api.md has the codes\n%q, openapi.yaml\n%q", told, enum)
	}
}

// After all tests, each documented code must have occurred: none is documented that nothing sends.
func TestMain(m *testing.M) {
	code := m.Run()
	partial := testing.Short()
	for _, name := range []string{"run", "skip", "list", "fuzz", "bench"} {
		partial = partial || flag.Lookup("test."+name).Value.String() != ""
	}
	if code == 0 && !partial {
		for _, documented := range slices.Sorted(maps.Keys(documentedCodes())) {
			if _, seen := seenCodes.Load(documented); !seen {
				fmt.Printf("no test was answered with a problem of the documented code %q\n", documented)
				code = 1
			}
		}
	}
	os.Exit(code)
}
