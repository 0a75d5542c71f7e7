package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"tasklens/scripts/lab/measure"
)

// comparison ranks tickets by their similarity to a draft, which is the query's text, or to the
// stored ticket whose key the query's ID is. It counts what is flagged as a likely duplicate.
type comparison struct {
	service Service
	tickets map[string]int64 // ids of stored tickets by key; nil for drafts

	mutex sync.Mutex
	flags Flags
}

// Flags are the results that are flagged as likely duplicates, and those of them that are judged
// relevant. What nobody judged counts as wrong.
type Flags struct{ All, Right int }

func (c *comparison) rank(ctx context.Context, query Query) (keys []string, err error) {
	var found struct {
		Results []struct {
			TicketKey string `json:"ticket_key"`
			Likely    bool   `json:"likely_duplicate"`
		}
	}
	if c.tickets == nil {
		err = c.service.post(ctx, "/api/tickets/similar", map[string]any{"text": query.Text, "limit": pageSize}, &found)
	} else {
		err = c.service.get(ctx, fmt.Sprintf("/api/tickets/%d/similar?limit=%d", c.tickets[query.ID], pageSize), &found)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, h := range found.Results {
		keys = append(keys, h.TicketKey)
		c.flags.All += one(h.Likely)
		c.flags.Right += one(h.Likely && query.Judged[h.TicketKey] > 0)
	}
	return keys, err
}

// siblings returns a query for each stored ticket that is relevant beside others: these duplicate
// one another.
func siblings(queries []Query, stored map[string]int64) (all []Query) {
	judged := map[string]measure.Judged{}
	for _, q := range queries {
		for one := range q.Judged {
			for other := range q.Judged {
				if _, known := stored[one]; one != other && known {
					if judged[one] == nil {
						judged[one] = measure.Judged{}
					}
					judged[one][other] = 1
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(judged)) {
		all = append(all, Query{ID: key, Judged: judged[key]})
	}
	return all
}
