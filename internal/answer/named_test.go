package answer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// named is a row below the threshold, of a source that the question names.
func named(c candidate) candidate {
	c.Named, c.OverThreshold = true, false
	return c
}

// ownText is the row of a project's own text.
func ownText(project int64, similarity float64, text string) candidate {
	c := chunkOf(0, int(project), similarity, text)
	c.TicketID, c.TicketKey, c.TicketName, c.Status, c.ProjectID, c.Kind = nil, nil, nil, nil, &project, "project"
	return c
}

var lambdas = []float64{0, 0.5, 0.99, 1}

// The texts of a named ticket come first at any similarity; MMR chooses the others.
func TestChooseWhatIsNamed(t *testing.T) {
	t.Parallel()
	var found []candidate
	for i := range 8 {
		found = append(found, chunkOf(int64(10+i), 1, 0.95-float64(i)/100, fmt.Sprintf("tale%d of%d its%d own%d", i, i, i, i)))
	}
	found = append(found, named(chunkOf(1, 1, 0.1, "own text")), named(chunkOf(1, 2, -0.2, "newest note")))
	for _, lambda := range lambdas {
		got := ids(choose(alike(slices.Clone(found), 0.5, nil), question(5, lambda)))
		first := slices.Sorted(slices.Values(got[:2]))
		if !slices.Equal(first, []string{"1-1", "1-2"}) || len(got) != 5 || !slices.Contains(got, "10-1") {
			t.Errorf("lambda %v: %v", lambda, got)
		}
		if got := ids(choose(alike(slices.Clone(found), 0.5, nil), question(1, lambda))); !slices.Equal(got, []string{"1-1"}) {
			t.Errorf("one wanted, lambda %v: %v", lambda, got)
		}
	}
	// A ticket that is not embedded has no similarity, and a near one occurs once.
	silent := named(chunkOf(2, 1, 0, "not embedded"))
	silent.Similarity = nil
	near := named(chunkOf(10, 1, 0.95, "tale"))
	near.OverThreshold = true
	if diff := cmp.Diff([]string{"10-1", "2-1"}, ids(choose(alike([]candidate{near, silent}, 0.5, nil), question(5, 0.5)))); diff != "" {
		t.Error(diff)
	}
}

// A project's text gets a place beside the tickets in its status, and further texts of named
// sources leave room for others.
func TestReserve(t *testing.T) {
	t.Parallel()
	var found []candidate
	for i := range 6 {
		found = append(found, named(chunkOf(int64(1+i), 1, 0.5-float64(i)/100, fmt.Sprint("blocked", i))))
	}
	found = append(found, named(ownText(7, 0.4, "What the project is for")), chunkOf(20, 1, 0.9, "near"))
	for _, lambda := range lambdas {
		got := choose(alike(slices.Clone(found), 0.2, nil), question(5, lambda))
		if got := slices.Sorted(slices.Values(ids(got))); !slices.Equal(got, []string{"0-7", "1-1", "2-1", "3-1", "4-1"}) {
			t.Errorf("lambda %v: %v", lambda, got)
		}
		if got[4].TicketID != nil {
			t.Errorf("lambda %v: tickets are not first in %v", lambda, ids(got))
		}
	}
	found = []candidate{chunkOf(20, 1, 0.9, "near"), chunkOf(21, 1, 0.8, "less near")}
	for i := range 5 {
		found = append(found, named(chunkOf(1, i, 0.5-float64(i)/100, fmt.Sprint("part", i))))
	}
	for _, lambda := range lambdas {
		got := ids(choose(alike(slices.Clone(found), 0.2, nil), question(5, lambda)))
		if !slices.Contains(got, "1-0") || !slices.Contains(got, "20-1") {
			t.Errorf("lambda %v: %v", lambda, got)
		}
	}
}

// The best candidate stays a candidate of MMR, however short it is and whatever it shares with
// others.
func TestThinKeepsTheBest(t *testing.T) {
	t.Parallel()
	note := chunkOf(1, 1, 0.95, "Patch is up")
	note.Kind, note.Tokens = "status_note", 3
	found := []candidate{note}
	for i := range 8 {
		found = append(found, chunkOf(int64(1+i), 2, 0.9-float64(i)/100, fmt.Sprintf("tale%d of%d its%d own%d", i, i, i, i)))
	}
	for _, lambda := range lambdas {
		if got := ids(choose(alike(slices.Clone(found), 0.5, nil), question(3, lambda))); got[0] != "1-1" {
			t.Errorf("lambda %v: %v", lambda, got)
		}
	}
}

// For any rows, lambda and top: the best text of each named source is chosen while there is room,
// and nothing twice.
func TestChooseWhatIsNamedAlways(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var found []candidate
		for i := range rapid.IntRange(1, 20).Draw(t, "rows") {
			c := chunkOf(rapid.Int64Range(1, 6).Draw(t, "ticket"), i, rapid.Float64Range(-1, 1).Draw(t, "similarity"), rapid.SampledFrom([]string{"same", "other words", "third"}).Draw(t, "text"))
			c.OverThreshold, c.Named = *c.Similarity > 0.5, rapid.Bool().Draw(t, "named")
			found = append(found, c)
		}
		slices.SortStableFunc(found, func(a, b candidate) int { return int(1000 * (*b.Similarity - *a.Similarity)) })
		q := question(rapid.IntRange(1, 20).Draw(t, "top"), rapid.SampledFrom(lambdas).Draw(t, "lambda"))
		got := ids(choose(alike(found, 0.5, nil), q))
		seen := map[int64]bool{}
		missing := 0
		for _, c := range found {
			if c.Named && !seen[*c.TicketID] {
				seen[*c.TicketID] = true
				if !slices.Contains(got, *c.ChunkID) {
					missing++
				}
			}
		}
		if missing != max(0, len(seen)-q.TopK) || len(got) > q.TopK || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
			t.Fatalf("chosen are %v, %d missing", got, missing)
		}
	})
}
