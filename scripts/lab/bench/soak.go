package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/web"
)

const (
	// The first and the last part of a soak are compared: ten minutes of an hour.
	soakParts = 6
	// soakFollowed are the tickets, the last ones, whose edits are followed until they are found.
	soakFollowed = 100
	// soakQuestions separates questions from searches, which use the same queries.
	soakQuestions = 1_000_000
	soakDrain     = 10 * time.Minute
	soakVacuum    = 30 * time.Minute
)

// stream is one kind of request, at a fixed rate.
type stream struct {
	name    string
	rate    float64 // a second
	bounded bool
	do      func(ctx context.Context, i int) error
	samples []sample
}

// Soak is a load of searches at a fixed rate for a long time, with an edit for every four of them
// and a question for every twenty. It edits the database.
type Soak struct {
	Connection  *pgx.Conn // of the owner, by Connect
	DatabaseURL string    // the same database, for more connections
	Collection  Collection
	Service     string // URL
	Salt        int    // unique per run, so that every text is new
	Lasting     time.Duration
	Rate        float64 // searches a second
	Queries     int     // of the recall at the end
	Progress    func(step string)

	using sync.Mutex // of Connection
}

// Do prints what became of speed, memory, tables and recall, and returns the bounds that are
// broken. The collection is loaded.
func (s *Soak) Do(ctx context.Context, to io.Writer) (broken []string, err error) {
	if _, err := (Run{Connection: s.Connection, Collection: s.Collection, Progress: s.Progress}).Load(ctx); err != nil {
		return nil, err
	}
	where, err := about(ctx, s.Connection)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(to, "\n### %v of searches, edits and questions, %d chunks\n\n%s\n", s.Lasting, s.Collection.Chunks(), where); err != nil {
		return nil, err
	}
	if _, err := s.Connection.Exec(ctx, `vacuum (analyze)`); err != nil {
		return nil, fmt.Errorf("vacuum: %w", err)
	}
	before, err := readTables(ctx, s.Connection)
	if err != nil {
		return nil, err
	}
	s.Progress("searching, editing and asking")
	streams, readings, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	s.Progress("waiting for the queue")
	err = s.await(ctx, soakDrain, `select not exists (select from tasklens.embedding_jobs where dead_at is null)`)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		broken = append(broken, fmt.Sprintf("the queue is not empty after %v", soakDrain))
	} else if err != nil {
		return nil, err
	}
	rest, lost, err := s.remains(ctx, streams)
	if err != nil {
		return nil, err
	}
	// During a vacuum, what it removes still counts as dead.
	s.Progress("waiting for autovacuum")
	if err := s.await(ctx, soakVacuum, `select not exists (select from pg_stat_progress_vacuum where datname = current_database())`); err != nil {
		return nil, err
	}
	after, err := readTables(ctx, s.Connection)
	if err != nil {
		return nil, err
	}
	asked, slower := requests(streams)
	used, fuller := resources(readings)
	stored, larger := grown(before, after)
	for _, table := range []Table{asked, used, stored, rest} {
		if err := table.Print(to); err != nil {
			return nil, err
		}
	}
	return slices.Concat(broken, lost, slower, fuller, larger), nil
}

// await waits until a statement returns true.
func (s *Soak) await(ctx context.Context, most time.Duration, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for done := false; !done; {
		err := s.Connection.QueryRow(ctx, sql).Scan(&done)
		if err == nil && !done {
			err = wait.For(ctx, 100*time.Millisecond)
		}
		if err != nil {
			return fmt.Errorf("wait for the database: %w", err)
		}
	}
	return nil
}

// load runs all streams, and reads the use of resources meanwhile.
func (s *Soak) load(ctx context.Context) (streams []*stream, readings []map[string]float64, err error) {
	observer, err := pgx.Connect(ctx, s.DatabaseURL)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to database: %w", err)
	}
	defer observer.Close(context.WithoutCancel(ctx))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	streams = []*stream{
		{"searches", s.Rate, true, s.search, nil},
		{"questions", s.Rate / 20, true, s.question, nil},
		{"edits, until a search finds them", s.Rate / 20, true, func(ctx context.Context, i int) error {
			return s.follow(ctx, s.newEdit(s.Collection.Tickets()-i%soakFollowed, i))
		}, nil},
		{"other edits, until the commit", s.Rate / 5, false, func(ctx context.Context, i int) error {
			return s.locked(func() error { return s.change(ctx, i) })
		}, nil},
	}
	var running sync.WaitGroup
	for _, one := range streams {
		running.Go(func() {
			one.samples = arrive(ctx, time.Duration(float64(time.Second)/one.rate), max(soakParts, int(s.Lasting.Seconds()*one.rate)), one.do)
		})
	}
	for end := time.Now().Add(s.Lasting); ; {
		r, err := s.read(ctx, observer)
		if err != nil {
			stop()
			running.Wait()
			return nil, nil, err
		}
		readings = append(readings, r)
		if wait.For(ctx, max(s.Lasting/360, 100*time.Millisecond)) != nil || time.Now().After(end) {
			break
		}
	}
	running.Wait()
	return streams, readings, ctx.Err()
}

// read returns the service's metrics, its REST server's connections to the database, and the load.
func (s *Soak) read(ctx context.Context, observer *pgx.Conn) (map[string]float64, error) {
	values, err := web.Metrics(ctx, s.Service)
	if err != nil {
		return nil, err
	}
	content, _ := os.ReadFile("/proc/loadavg") // empty on other systems
	load, _, _ := strings.Cut(string(content), " ")
	values["load"], _ = strconv.ParseFloat(load, 64)
	var connections int
	err = observer.QueryRow(ctx, `select count(*) from pg_stat_activity where usename = 'authenticator' and datname = current_database()`).Scan(&connections)
	values["connections"] = float64(connections)
	return values, err
}
