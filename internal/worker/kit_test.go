package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
	"tasklens/internal/tokenizer"
	"tasklens/internal/vector"
	"tasklens/internal/worker"
)

// patience bounds the wait for what must happen.
const patience = 10 * time.Minute

// bench is a tracker of the test's own, the database client that workers use, and their model.
type bench struct {
	t        testing.TB
	tracker  *pgx.Conn
	database *testbed.DB
	url, key string
	rows     *postgrest.Session
	model    *model
	indexer  *index.Indexer
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return newBenchOver(t, testbed.Database(t))
}

// newSlowBench returns a bench whose database takes longer for a long text than the statement
// timeout.
func newSlowBench(t testing.TB) *bench {
	t.Helper()
	database := testbed.Database(t)
	testbed.Slow(t, database)
	return newBenchOver(t, database)
}

func newBenchOver(t testing.TB, database *testbed.DB) *bench {
	t.Helper()
	b := &bench{t: t, model: &model{}, database: database}
	b.tracker = testbed.Connect(t, b.database.OwnerURL)
	var secret []byte
	b.url, secret = testbed.REST(t, b.database)
	b.key = testbed.Token(t, secret, "service_role")
	b.rows = postgrest.New(b.url, b.key, testbed.Schema()).AsService()
	b.indexer = index.New(b.model, tokenizer.Load())
	b.run(`insert into public.status (name) values ('To Do')`)
	return b
}

// model stands in for a provider: the same text always has the same vector of the same model.
// before may reject or delay a request.
type model struct {
	before func(ctx context.Context, model string, inputs []string) error

	mutex sync.Mutex
	asked [][]string
}

func (m *model) EmbeddingModel() string { return "stand-in" }

func (m *model) Embed(ctx context.Context, name string, inputs []string) ([]vector.Vector, []int, error) {
	m.mutex.Lock()
	m.asked = append(m.asked, slices.Clone(inputs))
	m.mutex.Unlock()
	if m.before != nil {
		if err := m.before(ctx, name, inputs); errors.Is(err, fault.ErrInput) && len(inputs) > 1 {
			return m.each(ctx, name, inputs)
		} else if err != nil {
			return nil, nil, err
		}
	}
	vectors := make([]vector.Vector, len(inputs))
	for i, input := range inputs {
		vectors[i] = embed(name, input)
	}
	return vectors, nil, nil
}

// each embeds the inputs that are not refused for themselves, as a provider's client does.
func (m *model) each(ctx context.Context, name string, inputs []string) (vectors []vector.Vector, _ []int, refused error) {
	vectors = make([]vector.Vector, len(inputs))
	for i := range inputs {
		one, _, err := m.Embed(ctx, name, inputs[i:i+1])
		if err != nil {
			refused = err
			continue
		}
		vectors[i] = one[0]
	}
	return vectors, nil, refused
}

// requests returns the inputs of each request so far.
func (m *model) requests() [][]string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.Clone(m.asked)
}

func embed(model, input string) vector.Vector {
	h := fnv.New64a()
	_, _ = h.Write([]byte(model + input))
	random := rand.New(rand.NewPCG(h.Sum64(), 0))
	v := make(vector.Vector, vector.Dimensions)
	square := 0.0
	for i := range v {
		v[i] = float32(random.NormFloat64())
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// run executes statements as the tracker.
func (b *bench) run(sql string, arguments ...any) {
	b.t.Helper()
	if _, err := b.tracker.Exec(b.t.Context(), sql, arguments...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bench) number(sql string, arguments ...any) (n int) {
	b.t.Helper()
	if err := b.tracker.QueryRow(b.t.Context(), sql, arguments...).Scan(&n); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// fill writes one project with this many tickets.
func (b *bench) fill(tickets int) {
	b.t.Helper()
	b.run(`insert into public.projects (key, name) values ('P', 'Pumps')`)
	b.run(`insert into public.tickets (project_id, status_id, name, description)
		select p.project_id, s.status_id, 'Pump ' || i, 'It leaks at valve ' || i from generate_series(1, $1) i, public.projects p, public.status s`, tickets)
}

// quick are the tests' options, with short retries.
func quick(t testing.TB) worker.Options {
	return worker.Options{Poll: 50 * time.Millisecond, Retry: 10 * time.Millisecond,
		Warn: func(_ context.Context, message string, err error) { t.Logf("%s: %v", message, err) }}
}

// start runs a worker. stop ends it and waits for its end.
func (b *bench) start(o worker.Options) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { worker.New(b.rows, b.indexer, o).Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	b.t.Cleanup(stop)
	return stop
}

// await polls until a count has this value.
func (b *bench) await(want int, sql string, arguments ...any) {
	b.t.Helper()
	b.awaitOn(b.tracker, want, sql, arguments...)
}

// awaitOn is await on another connection, while the tracker's is in use.
func (b *bench) awaitOn(connection *pgx.Conn, want int, sql string, arguments ...any) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		var got int
		if err := connection.QueryRow(b.t.Context(), sql, arguments...).Scan(&got); err != nil {
			b.t.Fatalf("%s: %v", sql, err)
		}
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s: got %d after %[4]v, want %[3]d", sql, got, want, patience)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

const (
	openJobs = `select count(*) from tasklens.embedding_jobs where dead_at is null`
	deadJobs = `select count(*) from tasklens.embedding_jobs where dead_at is not null`
)

// stored returns all chunks without their ids, one per line.
func (b *bench) stored() (lines []string) {
	b.t.Helper()
	rows, _ := b.tracker.Query(b.t.Context(), `
		select concat_ws(' | ', project_id, ticket_id, comment_id, status_change_id, kind,
			row_number() over (partition by embedding_set, project_id, ticket_id, comment_id order by position), tokens, input_hash, model, left(text, 60), md5(text), md5(embedding::text))
		from public.chunks order by project_id, ticket_id nulls first, comment_id nulls first, position`)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.t.Fatal(err)
	}
	return lines
}

// mustBeCurrent compares the stored chunks with a fresh embedding of everything.
func (b *bench) mustBeCurrent() {
	b.t.Helper()
	if wrong := b.number(`select count(*) from tasklens.sources s join tasklens.stored_chunks c using (source_id) where (s.models, s.chunks) is distinct from (c.models, c.chunks)`); wrong > 0 {
		b.t.Errorf("%d sources have other chunks than are recorded", wrong)
	}
	before := b.stored()
	var sources []index.Source
	var listed string
	err := b.tracker.QueryRow(b.t.Context(), `
		select coalesce(jsonb_agg(jsonb_build_object('ProjectID', project_id, 'TicketID', ticket_id, 'CommentID', comment_id)), '[]')
		from (
			select project_id, null::bigint as ticket_id, null::bigint as comment_id from public.projects
			union all select project_id, ticket_id, null from public.tickets
			union all select t.project_id, t.ticket_id, c.comment_id from public.comments c join public.tickets t using (ticket_id)
		) s`).Scan(&listed)
	if err == nil {
		err = json.Unmarshal([]byte(listed), &sources)
	}
	for indexer := index.New(&model{}, tokenizer.Load()); err == nil && len(sources) > 0; sources = sources[1:] {
		_, err = indexer.Index(b.t.Context(), b.rows, sources[0], true)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if differ := cmp.Diff(b.stored(), before); differ != "" {
		b.t.Errorf("the stored chunks are not those of the current texts (-current +stored):\n%s", differ)
	}
}
