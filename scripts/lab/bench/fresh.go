package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/measure"
)

// Fresh measures how soon edits become searchable, and what that costs other requests. It edits the
// database.
type Fresh struct {
	Connection  *pgx.Conn // of the owner, by Connect
	DatabaseURL string    // the same database, for more connections
	Collection  Collection
	Service     Endpoint
	Salt        int // unique per run, so that every text is new
	Lasting     time.Duration
	Delays      Delays // of the model stand-in
	Progress    func(step string)
}

// Do loads the collection if the database is empty, measures, and prints the tables.
func (f Fresh) Do(ctx context.Context, to io.Writer) error {
	if err := f.begin(ctx, to, "Edits and backfill"); err != nil {
		return err
	}
	for _, step := range []func(context.Context) (Table, error){f.edits, f.saves, f.backfill} {
		table, err := step(ctx)
		if err == nil {
			err = table.Print(to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin loads the collection if the database is empty, and prints the report's heading.
func (f Fresh) begin(ctx context.Context, to io.Writer, title string) error {
	// The load writes the embeddings itself, so the running service must not start on them.
	if _, err := f.Connection.Exec(ctx, `set tasklens.embedding_delay = '10 minutes'`); err != nil {
		return fmt.Errorf("delay the queue: %w", err)
	}
	if _, err := Load(ctx, f.Connection, f.Collection, f.Progress); err != nil {
		return err
	}
	if _, err := f.Connection.Exec(ctx, `truncate tasklens.embedding_jobs; reset tasklens.embedding_delay`); err != nil {
		return fmt.Errorf("empty the queue: %w", err)
	}
	where, err := about(ctx, f.Connection)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "\n### %s, %d tickets\n\n%s\n", title, f.Collection.Tickets(), where)
	return err
}

// edit is an edit that has not been found yet.
type edit struct {
	ticket int
	text   string
	begun  time.Time      // when it was committed
	stored chan time.Time // when its chunk was seen
}

// edits measures an idle service, and then the time from an edit to finding it by meaning.
func (f Fresh) edits(ctx context.Context) (Table, error) {
	f.Progress("measuring an idle queue")
	idle, err := f.transactions(ctx)
	if err != nil {
		return Table{}, err
	}
	f.Progress(fmt.Sprintf("editing %d tickets a second", rate))
	w, err := f.watch(ctx)
	if err != nil {
		return Table{}, err
	}
	var counting sync.Mutex
	n := int(f.Lasting.Seconds() * rate)
	var stored, took []float64 // from the commit, which arrive does not see
	samples := arrive(ctx, time.Second/rate, n, func(ctx context.Context, i int) error {
		e := f.newEdit(1+i%f.Collection.Tickets(), i)
		seen, err := f.follow(ctx, w, e)
		if err != nil {
			return err
		}
		found := time.Since(e.begun)
		counting.Lock()
		defer counting.Unlock()
		stored, took = append(stored, milliseconds(seen.Sub(e.begun))), append(took, milliseconds(found))
		return nil
	})
	w.stop()
	_, failed, first := outcome(samples)
	// An approximate index may miss an edit or two. More would be a bug.
	if failed > n/50 {
		return Table{}, fmt.Errorf("%d of %d edits were not found: %w", failed, n, first)
	}
	return Table{
		Title:  fmt.Sprintf("%d edits a second for %v, with a model that takes %v a request", rate, f.Lasting, f.Delays.Embed),
		Header: []string{"what", "p50", "p95", "p99", "most"},
		Rows: [][]string{
			append(append([]string{"from commit to the new chunk stored, ms"}, quantiles(stored)...), number(measure.Quantile(stored, 1))),
			append(append([]string{"from commit to found by a search, ms"}, quantiles(took)...), number(measure.Quantile(took, 1))),
			{fmt.Sprintf("edits of %d that are not among the first 20 results", n), fmt.Sprint(failed), "", "", ""},
			{"transactions a second while nothing is edited", number(idle), "", "", ""},
		},
		Caption: "Found is the time when a search, started once the chunk was stored, returned it.",
	}, nil
}

// newEdit is edit i of a run, with a text that no other has.
func (f Fresh) newEdit(ticket, i int) *edit {
	return &edit{ticket: ticket, stored: make(chan time.Time, 1), text: fmt.Sprintf("%s fresh%dx%d", f.Collection.Query(f.Salt+i).Text, f.Salt, i)}
}

// follow makes an edit and waits until a search finds it. It returns when the chunk was stored.
func (f Fresh) follow(ctx context.Context, w *watcher, e *edit) (stored time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	w.writing.Lock()
	_, err = f.Connection.Exec(ctx, `update public.tickets set description = $1 where ticket_id = $2`, e.text, e.ticket)
	e.begun = time.Now()
	w.writing.Unlock()
	if err != nil {
		return stored, fmt.Errorf("edit: %w", err)
	}
	w.add(e)
	select {
	case stored = <-e.stored:
		return stored, f.find(ctx, e)
	case <-ctx.Done():
		return stored, fmt.Errorf("wait for the chunk: %w", ctx.Err())
	}
}

// saves measures how long an editor's save of a ticket takes, while nothing is stored and while the
// chunks of the ticket's long text are.
func (f Fresh) saves(ctx context.Context) (Table, error) {
	const ticket, quietSaves, texts = 1, 1000, 5
	f.Progress("saving a ticket with a long text")
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	save := func() (float64, error) {
		begun := time.Now()
		_, err := f.Connection.Exec(ctx, `update public.tickets set priority = md5(random()::text) where ticket_id = $1`, ticket)
		return milliseconds(time.Since(begun)), err
	}
	var quiet, storing []float64
	for n := range texts {
		var long strings.Builder
		for i := 0; long.Len() < 190_000; i++ {
			fmt.Fprintf(&long, "%s %d of %d in %d.\n", f.Collection.Query(i).Text, i, n, f.Salt)
		}
		mark := fmt.Sprintf(" 0 of %d in %d.", n, f.Salt)
		if _, err := f.Connection.Exec(ctx, `update public.tickets set description = $1 where ticket_id = $2`, long.String(), ticket); err != nil {
			return Table{}, fmt.Errorf("write a long text: %w", err)
		}
		for stored := false; !stored; {
			took, err := save()
			if err == nil {
				storing = append(storing, took)
				err = f.Connection.QueryRow(ctx, `select exists (select from public.chunks where ticket_id = $1 and strpos(text, $2) > 0)`, ticket, mark).Scan(&stored)
			}
			if err != nil {
				return Table{}, fmt.Errorf("save while chunks are stored: %w", err)
			}
		}
		for range quietSaves / texts { // of the same long ticket
			took, err := save()
			if err != nil {
				return Table{}, fmt.Errorf("save: %w", err)
			}
			quiet = append(quiet, took)
		}
	}
	return Table{
		Title:  "saves of a ticket, one after another",
		Header: []string{"what", "saves", "p50", "p95", "p99", "most"},
		Rows: [][]string{
			append(append([]string{"while nothing is stored, ms", fmt.Sprint(len(quiet))}, quantiles(quiet)...), number(measure.Quantile(quiet, 1))),
			append(append([]string{"while its text of 190,000 characters is embedded and stored, ms", fmt.Sprint(len(storing))}, quantiles(storing)...),
				number(measure.Quantile(storing, 1))),
		},
	}, nil
}

// transactions returns the transactions a second of the whole database on an idle service.
func (f Fresh) transactions(ctx context.Context) (float64, error) {
	var counts [2]int64
	var times [2]time.Time
	for i := range counts {
		// Sessions flush their statistics a second or more after their last statement.
		if err := wait.For(ctx, 3*time.Second); err != nil {
			return 0, err
		}
		if i == 1 {
			if err := wait.For(ctx, f.Lasting); err != nil {
				return 0, err
			}
		}
		if err := f.Connection.QueryRow(ctx, `select xact_commit from pg_stat_database where datname = current_database()`).Scan(&counts[i]); err != nil {
			return 0, fmt.Errorf("count transactions: %w", err)
		}
		times[i] = time.Now()
	}
	return float64(counts[1]-counts[0]) / times[1].Sub(times[0]).Seconds(), nil
}

// find searches for a ticket by its whole text. It must be found by vector search, with the new
// text.
func (f Fresh) find(ctx context.Context, e *edit) error {
	whole := f.Collection.Ticket(e.ticket-1).Name + " " + e.text
	answer, err := f.Service.post(ctx, "/api/hybrid-search", encode(map[string]any{"query": whole, "match_threshold": 0.3, "limit": 20}))
	if err != nil {
		return err
	}
	var found struct {
		Results []struct {
			TicketID int `json:"ticket_id"`
			Source   string
			Text     string
		}
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return fmt.Errorf("decode the response: %w", err)
	}
	for _, r := range found.Results {
		if r.TicketID == e.ticket && r.Source == "vector" && strings.Contains(r.Text, e.text) {
			return nil
		}
	}
	return fmt.Errorf("ticket %d is %w by %q", e.ticket, errNotFound, e.text)
}

var errNotFound = errors.New("not found")

// watcher polls for the chunks of all pending edits with one statement every 20 ms. Polling the
// service instead would distort the measurement.
type watcher struct {
	stop    func()
	writing sync.Mutex // of the connection that edits
	mutex   sync.Mutex
	waiting map[int]*edit
}

func (w *watcher) add(e *edit) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.waiting[e.ticket] = e
}

func (f Fresh) watch(ctx context.Context) (*watcher, error) {
	connection, err := Connect(ctx, f.DatabaseURL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	w := &watcher{waiting: map[int]*edit{}, stop: func() {
		cancel()
		running.Wait()
		_ = connection.Close(context.WithoutCancel(ctx))
	}}
	running.Go(func() {
		for wait.For(ctx, 20*time.Millisecond) == nil {
			w.look(ctx, connection)
		}
	})
	return w, nil
}

func (w *watcher) look(ctx context.Context, connection *pgx.Conn) {
	w.mutex.Lock()
	var tickets []int64
	for ticket := range w.waiting {
		tickets = append(tickets, int64(ticket))
	}
	w.mutex.Unlock()
	rows, _ := connection.Query(ctx, `select ticket_id, text from public.chunks where ticket_id = any ($1)`, tickets)
	var ticket int
	var text string
	// An error shows up as edits that are never found.
	_, _ = pgx.ForEachRow(rows, []any{&ticket, &text}, func() error {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		if e := w.waiting[ticket]; e != nil && strings.Contains(text, e.text) {
			e.stored <- time.Now()
			delete(w.waiting, ticket)
		}
		return nil
	})
}
