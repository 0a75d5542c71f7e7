package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"tasklens/scripts/lab/measure"
)

// The bounds of a soak.
const (
	slowerBound = 1.2  // p95 of the last part to that of the first
	grownBound  = 1.2  // use of resources, in the same way, beside the slack
	grownSlack  = 20   // MB, goroutines, descriptors, connections
	deadBound   = 0.25 // dead rows to rows: autovacuum begins at 0.2
	deadSlack   = 1000 // dead rows besides, of tables with few rows
	sizeBound   = 1.5  // size of a table with its indexes to that before, beyond what rows were added
	largeTable  = 5e6  // bytes of the tables that are checked
	recallBound = 0.98
	foundBound  = 0.98 // an approximate index may miss an edit or two
)

// ends returns the first and the last part, of one element at least.
func ends[T any](all []T) (first, last []T) {
	n := max(1, len(all)/soakParts)
	return all[:n], all[len(all)-n:]
}

// variable is what differs between errors of one kind.
var variable = regexp.MustCompile(`\d{4,}|ticket \d+|[{"].*`)

func requests(streams []*stream) (t Table, broken []string) {
	t = Table{Title: "Requests, ms", Header: []string{"what", "a second", "requests", "failed", "p50, first", "last", "p95, first", "last", "ratio"},
		Caption: "First and last are the first and the last sixth of the time. A request is timed from when it was due."}
	for _, s := range streams {
		kinds, failed := map[string]int{}, 0
		for _, one := range s.samples {
			if one.err != nil && !errors.Is(one.err, errNotFound) {
				kinds[variable.ReplaceAllString(one.err.Error(), "…")]++
				failed++
			}
		}
		first, last := ends(s.samples)
		a := succeeded(first)
		b := succeeded(last)
		slower := measure.Quantile(b, 0.95) / measure.Quantile(a, 0.95)
		t.Rows = append(t.Rows, []string{s.name, number(s.rate), fmt.Sprint(len(s.samples)), fmt.Sprint(failed),
			number(measure.Quantile(a, 0.5)), number(measure.Quantile(b, 0.5)), number(measure.Quantile(a, 0.95)), number(measure.Quantile(b, 0.95)), fmt.Sprintf("%.2f", slower)})
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			broken = append(broken, fmt.Sprintf("%s: %d × %s", s.name, kinds[kind], kind))
		}
		if s.bounded && !(slower <= slowerBound) {
			broken = append(broken, fmt.Sprintf("%s: p95 grew to %.2f of the first, the bound is %v", s.name, slower, slowerBound))
		}
	}
	return t, broken
}

// resourceRows are the readings that are reported, with their names.
var resourceRows = []struct {
	name, key string
	unit      float64
}{
	{"resident memory, MB", "process_resident_memory_bytes", 1e6}, {"Go heap, MB", "go_memstats_heap_alloc_bytes", 1e6},
	{"goroutines", "go_goroutines", 1}, {"file descriptors", "process_open_fds", 1},
	{"connections to the database", "connections", 1}, {"load of the machine", "load", 1},
}

func resources(readings []map[string]float64) (t Table, broken []string) {
	t = Table{Title: "The service", Header: []string{"what, median", "first", "last", "ratio"}, Caption: fmt.Sprintf("%d readings.", len(readings))}
	first, last := ends(readings)
	for _, r := range resourceRows {
		median := func(some []map[string]float64) float64 {
			var values []float64
			for _, one := range some {
				values = append(values, one[r.key]/r.unit)
			}
			return measure.Quantile(values, 0.5)
		}
		a, b := median(first), median(last)
		t.Rows = append(t.Rows, []string{r.name, number(a), number(b), ratio(b, a)})
		if r.key != "load" && !(b <= grownBound*a+grownSlack) {
			broken = append(broken, fmt.Sprintf("%s: %.1f at first, %.1f at last", r.name, a, b))
		}
	}
	if panics := last[len(last)-1]["tasklens_panics_total"]; panics > 0 {
		broken = append(broken, fmt.Sprintf("%.0f panics", panics))
	}
	return t, broken
}

// tableState is the state of a table: its rows, those dead, and the bytes of it and of its
// indexes.
type tableState struct {
	name                       string
	rows, dead, bytes, indexes float64
}

func readTables(ctx context.Context, connection *pgx.Conn) (map[string]tableState, error) {
	result, err := connection.Query(ctx, `
		select s.schemaname || '.' || s.relname, s.n_live_tup, s.n_dead_tup, pg_table_size(s.relid), pg_indexes_size(s.relid)
		from pg_stat_user_tables s where s.schemaname in ('public', 'tasklens')`)
	if err != nil {
		return nil, fmt.Errorf("measure tables: %w", err)
	}
	named := map[string]tableState{}
	var s tableState
	_, err = pgx.ForEachRow(result, []any{&s.name, &s.rows, &s.dead, &s.bytes, &s.indexes}, func() error {
		named[s.name] = s
		return nil
	})
	return named, err
}

func grown(before, after map[string]tableState) (t Table, broken []string) {
	t = Table{Title: "Large tables", Header: []string{"table", "rows", "after", "dead rows", "MB", "after", "MB of indexes", "after", "growth"},
		Caption: "Growth is that of table and indexes, divided by that of the rows. Autovacuum was on."}
	count := func(x float64) string { return fmt.Sprintf("%.0f", x) }
	for _, name := range slices.Sorted(maps.Keys(after)) {
		a, b := before[name], after[name]
		if b.bytes+b.indexes < largeTable {
			continue
		}
		growth := "all is new"
		if a.rows > 0 {
			times := (b.bytes + b.indexes) / (a.bytes + a.indexes) / max(1, b.rows/a.rows)
			growth = fmt.Sprintf("%.2f", times)
			if times > sizeBound {
				broken = append(broken, fmt.Sprintf("%s grew to %.2f of its size, the bound is %v", name, times, sizeBound))
			}
		}
		t.Rows = append(t.Rows, []string{name, count(a.rows), count(b.rows), count(b.dead), number(a.bytes / 1e6), number(b.bytes / 1e6), number(a.indexes / 1e6), number(b.indexes / 1e6), growth})
		if b.dead > deadBound*b.rows+deadSlack {
			broken = append(broken, fmt.Sprintf("%s has %.0f dead rows beside %.0f", name, b.dead, b.rows))
		}
	}
	return t, broken
}

// remains measures recall, searches for the last edits, and counts jobs that failed for good.
func (s *Soak) remains(ctx context.Context, streams []*stream) (t Table, broken []string, err error) {
	followed := streams[2]
	at, last := 0, 0
	for _, one := range followed.samples {
		if !errors.Is(one.err, errNotFound) {
			at++
		}
	}
	n := len(followed.samples)
	for i := max(0, n-soakFollowed); i < n; i++ {
		err := s.find(ctx, s.newEdit(s.Collection.Tickets()-i%soakFollowed, i))
		if err == nil {
			last++
		} else if !errors.Is(err, errNotFound) {
			return t, nil, err
		}
	}
	var dead int
	if err := s.Connection.QueryRow(ctx, `select count(*) from tasklens.embedding_jobs`).Scan(&dead); err != nil {
		return t, nil, fmt.Errorf("read the queue: %w", err)
	}
	compared, err := Run{Connection: s.Connection, Collection: s.Collection, Queries: s.Queries, Progress: s.Progress}.recall(ctx)
	if err != nil {
		return t, nil, err
	}
	recall, err := strconv.ParseFloat(compared.Rows[0][2], 64) // without a filter
	if err != nil {
		return t, nil, fmt.Errorf("read the recall: %w", err)
	}
	t = Table{Title: "At the end", Header: []string{"what", "is", "bound"}}
	add := func(name string, is float64, format string, bound float64, kept bool) {
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf(format, is), fmt.Sprint(bound)})
		if !kept {
			broken = append(broken, fmt.Sprintf("%s: "+format+", the bound is %v", name, is, bound))
		}
	}
	found := float64(at) / float64(n)
	add("recall@10 of vector search against an exact scan", recall, "%.3f", recallBound, recall >= recallBound)
	add("edits found as soon as their chunk was stored, share", found, "%.3f", foundBound, found >= foundBound)
	found = float64(last) / float64(min(n, soakFollowed))
	add(fmt.Sprintf("the last %d edits, found at the end, share", min(n, soakFollowed)), found, "%.3f", foundBound, found >= foundBound)
	add("jobs left in the queue, dead ones too", float64(dead), "%.0f", 0, dead == 0)
	return t, broken, nil
}
