package examples

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"tasklens/internal/testbed"
)

// The page is followed from its first line to its last, as a reader does with psql.
func TestOwnTables(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/adopt.md")
	if err != nil {
		t.Fatal(err)
	}
	owner := testbed.Connect(t, testbed.Database(t).OwnerURL)
	query := func(ctx context.Context, sql string) (string, error) {
		results, err := owner.PgConn().Exec(ctx, sql).ReadAll()
		var out strings.Builder
		for _, result := range results {
			for _, row := range result.Rows {
				out.Write(bytes.Join(row, []byte(" | ")))
				out.WriteByte('\n')
			}
		}
		return out.String(), err
	}
	var wrong strings.Builder
	if err := Steps(t.Context(), "docs/adopt.md", string(page), query, &wrong); err != nil {
		t.Errorf("%v\n%s", err, wrong.String())
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	const step, end = "```sql step\n", "\n```\n"
	const shown = "```text output\n"
	query := func(_ context.Context, sql string) (string, error) {
		if strings.Contains(sql, "bad") {
			return "", context.Canceled
		}
		return strings.TrimPrefix(sql, "select "), nil
	}
	for name, c := range map[string]struct{ text, wrong string }{
		"holds":          {step + "select 1" + end + shown + " 1" + end, ""},
		"another output": {step + "select 1" + end + shown + " 2" + end, `a.md:1: select 1: the line "2" was not printed`},
		"fails":          {step + "bad" + end + step + "select 1" + end, "a.md:1: bad: context canceled"},
		"no step":        {"```sql run\nselect 1" + end, "there is no step"},
	} {
		var out strings.Builder
		err := Steps(t.Context(), "a.md", c.text, query, &out)
		if err != nil {
			out.WriteString(err.Error())
		}
		if c.wrong == "" && err != nil || !strings.Contains(out.String(), c.wrong) || c.wrong != "" && err == nil {
			t.Errorf("%s: %v: %s", name, err, out.String())
		}
	}
}
