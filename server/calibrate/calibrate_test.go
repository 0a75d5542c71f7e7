package calibrate_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"tasklens/internal/vector"
	"tasklens/server/calibrate"
)

type model struct{}

func (model) Embed(_ context.Context, _ string, inputs []string) ([]vector.Vector, int, error) {
	return make([]vector.Vector, len(inputs)), 0, nil
}

// database returns tickets with a similarity of 0.8 to their own name and 0.3 to other names.
// "AA-9" is not embedded.
type database struct{ keys []string }

func (d database) Call(_ context.Context, function string, arguments, result any) error {
	var rows []map[string]any
	given := arguments.(map[string]any)
	switch function {
	case "sample_tickets":
		for _, key := range d.keys {
			rows = append(rows, map[string]any{"ticket_key": key, "ticket_name": "name of " + key, "duplicate": key == "AA-1"})
		}
	case "compare_tickets":
		for i := range given["query_embeddings"].([]vector.Vector) {
			var similarities []any
			for j, key := range given["ticket_keys"].([]string) {
				switch {
				case key == "AA-9":
					similarities = append(similarities, nil)
				case i == j:
					similarities = append(similarities, 0.8)
				default:
					similarities = append(similarities, 0.3)
				}
			}
			rows = append(rows, map[string]any{"similarities": similarities})
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	report, err := calibrate.Measure(t.Context(), database{[]string{"AA-1", "AA-2", "AA-9"}}, model{}, "m", nil)
	if err != nil || report.Judged || len(report.Matches) != 2 || len(report.Strangers) != 4 {
		t.Fatalf("%+v, %v", report, err)
	}
	var out strings.Builder
	if err := report.Print(&out, 0.9); err != nil || !strings.Contains(out.String(), "2 names of tickets (1 of them of known duplicates), embedded by m") ||
		!strings.HasSuffix(out.String(), "\nMATCH_THRESHOLD=0.300\n") {
		t.Errorf("%v:\n%s", err, &out)
	}
	// All tickets of a query are relevant to it, not only the one in the measured pair.
	report, err = calibrate.Measure(t.Context(), database{}, model{}, "m", []calibrate.Pair{{Query: "a", TicketKey: "AA-1"}, {Query: "b", TicketKey: "aa-1"}})
	if err == nil || len(report.Strangers) != 0 {
		t.Errorf("with one ticket only: %+v, %v", report, err)
	}
	if _, err := calibrate.Measure(t.Context(), database{}, model{}, "m", nil); err == nil {
		t.Error("measuring no tickets returned no error")
	}
}

// A ticket that a query should find never counts as a stranger, whichever pair is measured.
func TestStrangers(t *testing.T) {
	t.Parallel()
	pair := func(query, key string) calibrate.Pair { return calibrate.Pair{Query: query, TicketKey: key} }
	// Twice as many as are sampled, so that every other pair is skipped: all of "all" but the
	// first.
	var many []calibrate.Pair
	for i := range 200 {
		many = append(many, pair("one "+strconv.Itoa(i), "AA-1"), pair("all", "AA-"+strconv.Itoa(i+1)))
	}
	many[0], many[2] = pair("all", "AA-1"), pair("one", "AA-2")
	for name, c := range map[string]struct {
		pairs              []calibrate.Pair
		matches, strangers int
	}{
		"one each":            {[]calibrate.Pair{pair("a", "AA-1"), pair("b", "AA-2")}, 2, 2},
		"two of one query":    {[]calibrate.Pair{pair("a", "AA-1"), pair("a", "AA-2"), pair("b", "AA-3")}, 3, 4},
		"two, one is shared":  {[]calibrate.Pair{pair("a", "AA-1"), pair("a", "AA-2"), pair("b", "aa-1"), pair("b", "AA-3")}, 4, 4},
		"one is not measured": {many, 200, 199 + 198},
	} {
		report, err := calibrate.Measure(t.Context(), database{}, model{}, "m", c.pairs)
		if err != nil || len(report.Matches) != c.matches || len(report.Strangers) != c.strangers {
			t.Errorf("%s: %d matches, %d strangers, %v", name, len(report.Matches), len(report.Strangers), err)
		}
	}
}
