package calibrate_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"tasklens/internal/collection"
	"tasklens/internal/search"
	"tasklens/server/calibrate"
)

// recorder records the stored row.
type recorder map[string]any

func (r recorder) Call(_ context.Context, function string, arguments, _ any) error {
	text, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	var given map[string]any
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	r[function] = given
	return nil
}

// judged returns queries whose tickets are found with the score 0.8, and others with 0.8 (one in
// four) or 0.2. Each query is also found as a ticket.
func judged(n int) (queries []collection.Query, compare calibrate.Compare) {
	for i := range n {
		id := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		queries = append(queries, collection.Query{ID: "Q-" + id, Text: id, Judged: map[string]float64{"T-" + id: 1, "MISSING-" + id: 1}})
	}
	asked := 0
	return queries, func(_ context.Context, text string, limit int) ([]search.Similar, error) {
		asked++
		other := 0.2
		if asked%4 == 0 {
			other = 0.8
		}
		return []search.Similar{
			{TicketKey: "q-" + text, DuplicateScore: new(1.0)}, {TicketKey: "t-" + text, DuplicateScore: new(0.8)},
			{TicketKey: "OTHER", DuplicateScore: &other}, {TicketKey: "NOT-SCORED"},
		}, nil
	}
}

func TestMeasureDuplicates(t *testing.T) {
	t.Parallel()
	queries, compare := judged(400)
	d, err := calibrate.MeasureDuplicates(t.Context(), compare, "m", queries, 0.75)
	if err != nil || d.Queries != 200 || len(d.Results) != 400 || d.Judged != 400 {
		t.Fatalf("%d queries, %d results, %d judged, %v", d.Queries, len(d.Results), d.Judged, err)
	}
	// 200 right results and 50 others have the score 0.8.
	if p := d.Probability.At(0.8); math.Abs(p-0.8) > 0.01 || d.Probability.At(0.2) > 0.02 || !d.Reached || d.Threshold != 0.8 {
		t.Errorf("%+v, probability %v at 0.8 and %v at 0.2", d, p, d.Probability.At(0.2))
	}
	stored := recorder{}
	if err := d.Store(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if row := stored["store_duplicate_calibration"].(map[string]any); row["duplicate_threshold"] != 0.8 || row["results"] != 400.0 || row["duplicates"] != 200.0 || row["embedding_model"] != "m" {
		t.Errorf("the stored row is %v", row)
	}
	var out strings.Builder
	if err := d.Print(&out); err != nil || !strings.Contains(out.String(), "likely_duplicate from 0.800: 200 of 250 such results are duplicates, and 50.0% of all duplicates are found so.") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// If no score has the precision, the default threshold stays; the probability is stored anyway.
func TestNoThresholdIsPreciseEnough(t *testing.T) {
	t.Parallel()
	queries, compare := judged(40)
	d, err := calibrate.MeasureDuplicates(t.Context(), compare, "m", queries, 0.9)
	if err != nil || d.Reached {
		t.Fatalf("%+v, %v", d, err)
	}
	stored := recorder{}
	if err := d.Store(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if row := stored["store_duplicate_calibration"].(map[string]any); row["duplicate_threshold"] != nil || row["slope"].(float64) <= 0 {
		t.Errorf("the stored row is %v", row)
	}
	none := func(context.Context, string, int) ([]search.Similar, error) { return nil, nil }
	if _, err := calibrate.MeasureDuplicates(t.Context(), none, "m", queries, 0.9); err == nil {
		t.Error("fitting without any results returned no error")
	}
}
