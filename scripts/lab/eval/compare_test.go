package eval_test

import (
	"errors"
	"strings"
	"testing"

	"tasklens/scripts/lab/eval"
)

const before = "# a note\n" + eval.Header + "c\tkeyword\tnDCG@10\t0.3090\nc\tkeyword\tRecall@10\t0.4000\nc\tkeyword\tlists, first 10\tAAABBBCCC\n"

func TestTwoResultsAreCompared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replace, by string
		worse       bool
		print       string
	}{
		"the same":         {"a note", "another", false, "3 of 3 lines are equal; 0 figures fell"},
		"a small fall":     {"0.3090", "0.3080", false, "0.3090 → 0.3080  -0.0010\n"},
		"a fall":           {"0.3090", "0.3079", true, "0.3090 → 0.3079  -0.0011  WORSE\n"},
		"a rise":           {"0.3090", "0.3190", false, "0.3090 → 0.3190  +0.0100\n"},
		"missing":          {"c\tkeyword\tRecall@10\t0.4000\n", "", true, "c | keyword | Recall@10 "},
		"new":              {"# a note", "c\tvector\tnDCG@10\t0.2", false, "new: 0.2\n"},
		"other lists":      {"BBBCCC", "BBbCCd", false, "2 of 3 differ: 2 3\n"},
		"fewer lists":      {"BBBCCC", "BBB", false, "not the same number of lists\n"},
		"another set":      {"c\tkeyword\tnDCG", "d\tkeyword\tnDCG", true, "c | keyword | nDCG@10 "},
		"of another order": {"c\tkeyword\tnDCG@10\t0.3090\nc\tkeyword\tRecall@10\t0.4000\n", "c\tkeyword\tRecall@10\t0.4000\nc\tkeyword\tnDCG@10\t0.3090\n", false, "3 of 3 lines are equal"},
	} {
		var out strings.Builder
		err := eval.Compare(&out, strings.NewReader(before), strings.NewReader(strings.Replace(before, c.replace, c.by, 1)))
		if worse := errors.Is(err, eval.ErrWorse); worse != c.worse || (err != nil && !worse) || !strings.Contains(out.String(), c.print) {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
}
