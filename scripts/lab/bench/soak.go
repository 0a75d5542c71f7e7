package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/measure"
)

const (
	// The first and the last part of a soak are compared: ten minutes of an hour.
	soakParts = 6
	// soakFollowed are the tickets, the last ones, whose edits are followed until they are found.
	soakFollowed = 100
	soakDrain    = 10 * time.Minute
	soakVacuum   = 30 * time.Minute
)

// stream is one kind of request, at a fixed rate.
type stream struct {
	name    string
	rate    float64 // a second
	bounded bool
	do      func(ctx context.Context, i int) error
	samples []sample
}

// Soak searches at a fixed rate for the time given, with an edit for every four searches and a
// question for every twenty. It prints what became of speed, memory, tables and recall, and returns
// the bounds that are broken.
func (f Fresh) Soak(ctx context.Context, to io.Writer, rate float64, queries int) (broken []string, err error) {
	if err := f.begin(ctx, to, fmt.Sprintf("%v of searches, edits and questions", f.Lasting)); err != nil {
		return nil, err
	}
	if _, err := f.Connection.Exec(ctx, `vacuum (analyze)`); err != nil {
		return nil, fmt.Errorf("vacuum: %w", err)
	}
	before, err := readTables(ctx, f.Connection)
	if err != nil {
		return nil, err
	}
	f.Progress("searching, editing and asking")
	streams, readings, err := f.load(ctx, rate)
	if err != nil {
		return nil, err
	}
	f.Progress("waiting for the queue")
	drained, cancel := context.WithTimeout(ctx, soakDrain)
	defer cancel()
	if err := f.drain(drained); err != nil {
		broken = append(broken, fmt.Sprintf("the queue is not empty after %v", soakDrain))
	}
	rest, lost, err := f.remains(ctx, streams, queries)
	if err != nil {
		return nil, err
	}
	// During a vacuum, what it removes still counts as dead.
	f.Progress("waiting for autovacuum")
	if err := f.vacuumed(ctx); err != nil {
		return nil, err
	}
	after, err := readTables(ctx, f.Connection)
	if err != nil {
		return nil, err
	}
	asked, slower := requests(streams)
	used, fuller := resources(readings)
	stored, larger := grown(before, after)
	return slices.Concat(broken, lost, slower, fuller, larger), print(to, []Table{asked, used, stored, rest})
}

// vacuumed waits until no vacuum runs.
func (f Fresh) vacuumed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, soakVacuum)
	defer cancel()
	for {
		var running bool
		if err := f.Connection.QueryRow(ctx, `select exists (select from pg_stat_progress_vacuum where datname = current_database())`).Scan(&running); err != nil {
			return fmt.Errorf("wait for autovacuum: %w", err)
		}
		if !running {
			return nil
		}
		if err := wait.For(ctx, time.Second); err != nil {
			return fmt.Errorf("wait for autovacuum: %w", err)
		}
	}
}

// load runs all streams, and reads the use of resources meanwhile.
func (f Fresh) load(ctx context.Context, rate float64) (streams []*stream, readings []map[string]float64, err error) {
	w, err := f.watch(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer w.stop()
	observer, err := pgx.Connect(ctx, f.DatabaseURL)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to database: %w", err)
	}
	defer observer.Close(context.WithoutCancel(ctx))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	run := Run{Service: f.Service, Collection: f.Collection}
	streams = []*stream{
		{"searches", rate, true, f.search, nil},
		{"questions", rate / 20, true, run.ask("/api/query", run.endpoints()[1].body, kinds(f.Salt + firstOfHTTP)[0]), nil},
		{"edits, until a search finds them", rate / 20, true, func(ctx context.Context, i int) error {
			_, err := f.follow(ctx, w, f.newEdit(f.Collection.Tickets()-i%soakFollowed, i))
			return err
		}, nil},
		{"other edits, until the commit", rate / 5, false, func(ctx context.Context, i int) error {
			w.writing.Lock()
			defer w.writing.Unlock()
			return f.change(ctx, i)
		}, nil},
	}
	var running sync.WaitGroup
	for _, s := range streams {
		running.Go(func() {
			s.samples = arrive(ctx, time.Duration(float64(time.Second)/s.rate), max(soakParts, int(f.Lasting.Seconds()*s.rate)), s.do)
		})
	}
	for end := time.Now().Add(f.Lasting); ; {
		r, err := f.read(ctx, observer)
		if err != nil {
			stop()
			running.Wait()
			return nil, nil, err
		}
		readings = append(readings, r)
		if wait.For(ctx, max(f.Lasting/360, 100*time.Millisecond)) != nil || time.Now().After(end) {
			break
		}
	}
	running.Wait()
	return streams, readings, ctx.Err()
}

// search sends search i: one in ten repeated, the others new, with filters and of further pages
// too.
func (f Fresh) search(ctx context.Context, i int) error {
	body := map[string]any{"query": f.Collection.Query(f.Salt + i).Text, "limit": results}
	switch i % 10 {
	case 0:
		body["query"] = f.Collection.Query(kinds(0)[1].query(i / 10)).Text
	case 1:
		body["filters"] = map[string]any{"statuses": []string{statuses[1].name}}
	case 2:
		body["filters"] = map[string]any{"labels": []string{labelOf(0.5)}, "created": map[string]any{"from": dayOf(0.5)}}
	case 3:
		body["filters"] = map[string]any{"projects": []string{"B2"}}
	case 4, 5:
		body["offset"] = results * (i % 10)
	}
	answer, err := f.Service.post(ctx, "/api/hybrid-search", encode(body))
	if err == nil && bytes.Contains(answer, []byte(`"degraded":`)) {
		return errors.New("degraded")
	}
	return err
}

// change makes edit i. Tickets and comments stay as many, and their texts about as long.
func (f Fresh) change(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	// Neither the long ticket nor one that is followed.
	pick := func(i int) Ticket {
		return f.Collection.Ticket(longTicket + 1 + i*7919%(f.Collection.Tickets()-longTicket-1-soakFollowed))
	}
	t, attributes := pick(i), f.Collection.attributes(pick(i).ID-1)
	var batch pgx.Batch
	switch kind := i % 4; {
	case kind == 0:
		batch.Queue(`update public.tickets set description = $2 where ticket_id = $1`, t.ID, pick(31*i+7).Description)
	case kind == 1 && len(t.Comments) > 0:
		batch.Queue(`update public.comments set body = $2 where comment_id = $1`, commentID(t, 0), fmt.Sprintf("%s edit%d", t.Comments[0], i))
	case kind == 2: // deleted, and then written again
		if _, err := f.Connection.Exec(ctx, `delete from public.tickets where ticket_id = $1`, t.ID); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		batch.Queue(`insert into public.tickets (ticket_id, key, project_id, status_id, name, description, labels, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			t.ID, t.Key(), t.Project, t.Status, t.Name, t.Description, attributes.labels, attributes.created)
		for k, body := range t.Comments {
			batch.Queue(`insert into public.comments (comment_id, ticket_id, author, body) values ($1, $2, 'Person 1', $3)`, commentID(t, k), t.ID, body)
		}
	default:
		batch.Queue(`update public.tickets set description = $2 where ticket_id = $1`, t.ID, fmt.Sprintf("%s edit%d", t.Description, i))
	}
	if err := f.Connection.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	return nil
}

// read returns the service's metrics, its REST server's connections to the database, and the load.
func (f Fresh) read(ctx context.Context, observer *pgx.Conn) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.Service.URL+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	defer response.Body.Close()
	values, err := measure.Metrics(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	content, _ := os.ReadFile("/proc/loadavg") // empty on other systems
	load, _, _ := strings.Cut(string(content), " ")
	values["load"], _ = strconv.ParseFloat(load, 64)
	var connections int
	err = observer.QueryRow(ctx, `select count(*) from pg_stat_activity where usename = 'authenticator' and datname = current_database()`).Scan(&connections)
	values["connections"] = float64(connections)
	return values, err
}
