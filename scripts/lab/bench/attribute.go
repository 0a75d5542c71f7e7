package bench

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// shared are the shares of tickets that have a certain label or assignee. They are independent of
// text and project, so a filter on them selects from everything.
var shared = []float64{0.9, 0.5, 0.1, 0.01, 0.001, 0.0001}

// attributes are a ticket's fields besides its text.
type attributes struct {
	assignee         *string
	kind, priority   string
	labels           []string
	created, updated time.Time
	due              *time.Time
}

// firstDay and days define when tickets are created: evenly over ten years.
var firstDay = time.Date(2015, time.January, 1, 0, 0, 0, 0, time.UTC)

const days = 3650

// labelOf returns the label that this share of the tickets has.
func labelOf(share float64) string { return fmt.Sprintf("Label %v", share) }

// assigneeOf returns the assignee of this share of the tickets. The shares sum to less than 1.
func assigneeOf(share float64) string { return fmt.Sprintf("Person %v", share) }

// dayOf returns the day by which this share of the tickets has been created.
func dayOf(share float64) time.Time {
	return firstDay.Add(time.Duration(share * days * 24 * float64(time.Hour)))
}

// attributes returns the attributes of ticket i, counted from 0.
func (c Collection) attributes(i int) (a attributes) {
	random := rand.New(rand.NewPCG(seed+5, uint64(i)))
	a.labels = []string{}
	for _, share := range shared {
		if random.Float64() < share {
			a.labels = append(a.labels, labelOf(share))
		}
	}
	at := random.Float64()
	for _, share := range shared[1:] {
		if at -= share; at < 0 {
			name := assigneeOf(share)
			a.assignee = &name
			break
		}
	}
	a.kind = []string{"Bug", "Task", "Story"}[random.IntN(3)]
	a.priority = []string{"High", "Medium", "Low"}[random.IntN(3)]
	a.created = dayOf(float64(i) / float64(c.Tickets()))
	a.updated = a.created.Add(time.Duration(random.ExpFloat64() * 30 * 24 * float64(time.Hour)))
	if random.Float64() < 0.3 {
		due := a.created.AddDate(0, 0, 30).Truncate(24 * time.Hour)
		a.due = &due
	}
	return a
}
