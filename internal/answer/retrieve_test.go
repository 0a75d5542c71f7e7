package answer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func question(top int, lambda float64) Question {
	const text = "Why was the customer charged twice?"
	return Question{Text: text, Search: text, TopK: top, Lambda: lambda}
}

// With lambda 1 the order is that of relevance: siblings, copies and short notes keep their places.
func TestChooseByRelevanceAlone(t *testing.T) {
	t.Parallel()
	short := chunkOf(1, 2, 0.8, "Patch is up")
	short.Kind, short.Tokens = "status_note", 3
	found := alike([]candidate{chunkOf(1, 1, 0.9, "same text"), short, chunkOf(1, 3, 0.79, "c"), chunkOf(1, 4, 0.78, "d"),
		chunkOf(2, 1, 0.77, "same text"), chunkOf(3, 1, 0.76, "f")}, 0.9, nil)
	if diff := cmp.Diff([]string{"1-1", "1-2", "1-3", "1-4", "2-1", "3-1"}, ids(choose(found, question(20, 1)))); diff != "" {
		t.Error(diff)
	}
}

// Between tickets the formula is the textbook's.
func TestChooseByMMR(t *testing.T) {
	t.Parallel()
	found := alike([]candidate{chunkOf(1, 1, 0.9, "alpha"), chunkOf(2, 1, 0.85, "beta"), chunkOf(3, 1, 0.8, "gamma"), chunkOf(4, 1, 0.71, "delta")},
		0.6, map[string]float64{"1-1 2-1": 0.99, "1-1 3-1": 0.7, "1-1 4-1": 0.1, "3-1 4-1": 0.2})
	for lambda, want := range map[float64][]string{
		1:   {"1-1", "2-1", "3-1", "4-1"},
		0.5: {"1-1", "4-1", "3-1", "2-1"}, // after 1-1: 2-1 has -0.07, 3-1 has 0.05, 4-1 has 0.305
		0:   {"1-1", "4-1", "3-1", "2-1"}, // after 1-1 and 4-1: 2-1 has -0.99, 3-1 has -0.7
	} {
		if diff := cmp.Diff(want, ids(choose(found, question(4, lambda)))); diff != "" {
			t.Errorf("lambda %v: %s", lambda, diff)
		}
	}
}

// A long ticket that is nearest in every chunk leaves room for others; without others it may take
// all places.
func TestChooseOfOneLongTicket(t *testing.T) {
	t.Parallel()
	var long, found []candidate
	for i := range 12 {
		long = append(long, chunkOf(1, i, 0.95-float64(i)/100, fmt.Sprintf("part%d of%d the%d story%d", i, i, i, i)))
	}
	found = append(slices.Clone(long), chunkOf(2, 1, 0.75, "another tale"), chunkOf(3, 1, 0.74, "third matter"), chunkOf(4, 1, 0.73, "fourth item"))
	for _, lambda := range []float64{0, 0.5, 0.99} {
		chosen := choose(alike(slices.Clone(found), 0.5, nil), question(5, lambda))
		tickets := map[int64]int{}
		for _, c := range chosen {
			tickets[*c.TicketID]++
		}
		if len(chosen) != 5 || tickets[1] > 3 {
			t.Errorf("lambda %v: chosen were %v", lambda, ids(chosen))
		}
	}
	if chosen := choose(alike(long, 0.8, nil), question(5, 0.5)); len(chosen) != 5 {
		t.Errorf("chosen of one ticket were %v", ids(chosen))
	}
}

// Tickets with the same text take one place while there are others.
func TestChooseOfCopies(t *testing.T) {
	t.Parallel()
	text := "Checkout shows a blank page after the update of Monday, nobody can pay any more with a card"
	found := []candidate{chunkOf(1, 1, 0.9, text), chunkOf(2, 1, 0.9, text), chunkOf(3, 1, 0.89, text+" please"),
		chunkOf(4, 1, 0.75, "A voucher is refused"), chunkOf(5, 1, 0.72, "The basket is empty")}
	near := map[string]float64{"1-1 2-1": 0.99, "1-1 3-1": 0.97, "2-1 3-1": 0.97}
	for name, found := range map[string][]candidate{"vectors": alike(slices.Clone(found), 0.5, near), "no vectors": alike(slices.Clone(found), 0, nil)} {
		for _, lambda := range []float64{0.5, 0.9} {
			if diff := cmp.Diff([]string{"1-1", "4-1", "5-1"}, ids(choose(found, question(3, lambda)))); diff != "" {
				t.Errorf("%s, lambda %v: %s", name, lambda, diff)
			}
		}
	}
	// Embedded with its ticket's header, the same short note has different vectors.
	notes := []candidate{chunkOf(1, 1, 0.9, "Restarted the pump"), chunkOf(2, 1, 0.9, "Restarted the pump"), chunkOf(3, 1, 0.72, "A voucher is refused")}
	if diff := cmp.Diff([]string{"1-1", "3-1"}, ids(choose(alike(notes, 0.6, nil), question(2, 0.9)))); diff != "" {
		t.Errorf("short notes: %s", diff)
	}
	if chosen := choose(alike(found, 0.5, near), question(5, 0.5)); len(chosen) != 5 {
		t.Errorf("where there is room: %v", ids(chosen))
	}
}

// The note with the resolution is not displaced by other tickets because it shares its ticket's
// header; a short note without content is.
func TestChooseTheResolution(t *testing.T) {
	t.Parallel()
	patch := chunkOf(1, 2, 0.88, "Patch is up. Two reviewers please.")
	patch.Kind, patch.Tokens = "status_note", 9
	resolution := chunkOf(1, 3, 0.8, "Root cause: a fresh idempotency key for every attempt.")
	resolution.Kind = "status_note"
	found := alike([]candidate{chunkOf(1, 1, 0.9, "A customer was charged twice when the payment timed out."), patch, resolution,
		chunkOf(2, 1, 0.78, "Refund is one cent short"), chunkOf(3, 1, 0.76, "Invoice shows the wrong tax")},
		0.6, map[string]float64{"1-1 1-2": 0.93, "1-1 1-3": 0.9, "1-2 1-3": 0.9})
	if diff := cmp.Diff([]string{"1-1", "1-3", "2-1"}, ids(choose(found, question(3, 0.5)))); diff != "" {
		t.Error(diff)
	}
	patch.Text = "Charged twice, patch is up."
	found[1] = patch
	if chosen := ids(choose(alike(found, 0.6, nil), question(5, 0.5))); !slices.Contains(chosen, "1-2") {
		t.Errorf("a short note that speaks of the question is left out of %v", chosen)
	}
}

// A copy is recognized on any scale of cosines; see usualCosine.
func TestCopiesOnEveryScale(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("alpha beta gamma delta ", 50)
	for _, c := range []struct{ usual, copies float64 }{{0.15, 0.65}, {0.3, 0.75}, {0.65, 0.85}, {0.75, 0.85}, {0.95, 0.95}} {
		found := placed(alike([]candidate{chunkOf(1, 1, 0.9, long), chunkOf(2, 1, 0.9, long), chunkOf(3, 1, 0.8, "c"), chunkOf(4, 1, 0.8, "d")},
			c.usual, map[string]float64{"1-1 2-1": c.copies}))
		if !copied(&found[0], &found[1], c.usual) {
			t.Errorf("with cosines of %.2f usually a copy at %.2f is none", c.usual, c.copies)
		}
	}
	// Texts that are far apart are not compared: here they would turn out equal.
	if found := placed(alike([]candidate{chunkOf(1, 1, 0.9, long), chunkOf(2, 1, 0.9, long)}, 0.1, nil)); copied(&found[0], &found[1], 0.1) {
		t.Error("texts that are far apart are read")
	}
}

// placed numbers rows as choose does.
func placed(rows []candidate) []candidate {
	for i := range rows {
		rows[i].place = i
	}
	return rows
}
