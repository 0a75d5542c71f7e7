package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// filter limits a search to a project, a status, or both; 0 means any.
type filter struct {
	name    string
	project int64
	status  string
	share   float64 // of the chunks
	outside bool    // per query, a project on other topics
}

func (f filter) passes(s source) bool {
	return (f.project == 0 || f.project == s.project) && (f.status == "" || f.status == s.status)
}

// shares are the fractions of chunks by project and by status.
type shares struct {
	projects map[int64]float64
	statuses map[string]float64
	longest  int   // chunks of the longest ticket
	single   int64 // a project with one ticket; 0 if there is none
}

func readShares(ctx context.Context, connection *pgx.Conn, model string) (s shares, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	s = shares{projects: map[int64]float64{}, statuses: map[string]float64{}}
	rows, err := connection.Query(ctx, `
		select c.project_id, coalesce(s.name, ''), count(*), count(distinct c.ticket_id)
		from public.chunks c left join public.tickets t on t.ticket_id = c.ticket_id left join public.status s on s.status_id = t.status_id
		where c.model = $1 group by c.project_id, s.name`, model)
	if err != nil {
		return s, fmt.Errorf("count chunks: %w", err)
	}
	total, tickets := 0.0, map[int64]int{}
	var (
		project        int64
		status         string
		chunks, inPart int
	)
	_, err = pgx.ForEachRow(rows, []any{&project, &status, &chunks, &inPart}, func() error {
		total += float64(chunks)
		s.projects[project] += float64(chunks)
		tickets[project] += inPart
		if status != "" {
			s.statuses[status] += float64(chunks)
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("count chunks: %w", err)
	}
	for id := range s.projects {
		s.projects[id] /= total
		if tickets[id] == 1 && (s.single == 0 || id < s.single) {
			s.single = id
		}
	}
	for name := range s.statuses {
		s.statuses[name] /= total
	}
	err = connection.QueryRow(ctx, `select coalesce(max(n), 0) from (select count(*) as n from public.chunks c where c.ticket_id is not null group by c.ticket_id) x`).Scan(&s.longest)
	if err != nil {
		return s, fmt.Errorf("find the longest ticket: %w", err)
	}
	return s, nil
}

// filters returns no filter, and projects and statuses that select about the wanted shares, if
// there are any.
func (s shares) filters() []filter {
	out := []filter{{name: "none", share: 1}}
	for _, want := range []float64{0.5, 0.1, 0.01, 0.001} {
		if id, share, ok := closest(s.projects, want); ok {
			out = append(out, filter{name: "project of " + percent(want), project: id, share: share})
		}
		if name, share, ok := closest(s.statuses, want); ok {
			out = append(out, filter{name: "status of " + percent(want), status: name, share: share})
		}
	}
	if s.single != 0 {
		out = append(out, filter{name: "project of one ticket", project: s.single, share: s.projects[s.single]})
	}
	for _, want := range []float64{0.5, 0.1, 0.01, 0.001} {
		out = append(out, filter{name: "project of " + percent(want) + " on other topics", share: want, outside: true})
	}
	return out
}

// elsewhere returns a project of the wanted size on other topics than the query; project 0 if there
// is none.
func (s shares) elsewhere(f filter, p Probe, truth []source) filter {
	others := map[int64]float64{}
	for id, share := range s.projects {
		if p.Outside == nil && id != truth[0].project || p.Outside != nil && p.Outside(id) {
			others[id] = share
		}
	}
	f.project, f.share, _ = closest(others, f.share)
	return f
}

// closest returns the key whose share is closest to the wanted one by ratio, within a factor of
// two.
func closest[K cmp.Ordered](shares map[K]float64, want float64) (best K, share float64, ok bool) {
	off := math.Log(2)
	for _, key := range slices.Sorted(maps.Keys(shares)) {
		if shares[key] <= 0 {
			continue
		}
		if distance := math.Abs(math.Log(shares[key] / want)); distance < off {
			best, share, off, ok = key, shares[key], distance, true
		}
	}
	return best, share, ok
}

func percent(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }
