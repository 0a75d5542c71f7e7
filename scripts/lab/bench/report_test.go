package bench

import (
	"strings"
	"testing"
)

func TestATableIsMarkdownThatCanBeRead(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := Table{
		Title: "Sizes, ms", Caption: "Of two.", Header: []string{"what", "p50"}, Rows: [][]string{{"a – b", "1.5"}, {"c", "10.25"}},
	}.Print(&out)
	want := `
#### Sizes, ms

| what  |   p50 |
|:------|------:|
| a – b |   1.5 |
| c     | 10.25 |

Of two.
`
	if err != nil || out.String() != want {
		t.Errorf("%v:\n%s", err, &out)
	}
}
