package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"tasklens/scripts/lab/offline"
)

// model is the model name of the chunks: the stand-in that also embeds the queries.
const model = offline.EmbeddingModel

// loadTimeout bounds loading and indexing the largest collection.
const loadTimeout = time.Hour

// Loaded holds the size and duration of a load.
type Loaded struct {
	Tickets, Chunks int
	Text            time.Duration // projects, tickets and comments, with the keyword entries that triggers write
	Vectors         time.Duration // chunks, without the vector index
	Index           time.Duration // building the vector index
}

// Connect opens a connection that supports vectors.
func Connect(ctx context.Context, databaseURL string) (*pgx.Conn, error) {
	if databaseURL == "" { // a driver would fall back to PGHOST or the local default
		return nil, errors.New("connect to database: no URL is set")
	}
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	var oid uint32
	if err := connection.QueryRow(ctx, `select 'extensions.vector'::regtype::oid`).Scan(&oid); err != nil {
		_ = connection.Close(ctx)
		return nil, fmt.Errorf("look for pgvector: %w", err)
	}
	// Vectors are sent in pgvector's binary format, see encodeVector.
	connection.TypeMap().RegisterType(&pgtype.Type{Name: "vector", OID: oid, Codec: pgtype.ByteaCodec{}})
	return connection, nil
}

// Load fills an empty database with a collection and records that in the schema bench. It accepts a
// database that already holds it. Then it reads all tables and indexes into memory with the
// extension pg_prewarm, which must be installed.
func Load(ctx context.Context, connection *pgx.Conn, c Collection, progress func(string)) (Loaded, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	loaded, err := fill(ctx, connection, c, progress)
	if err != nil {
		return loaded, err
	}
	return loaded, prewarm(ctx, connection)
}

func fill(ctx context.Context, connection *pgx.Conn, c Collection, progress func(string)) (Loaded, error) {
	want := Loaded{Tickets: c.Tickets(), Chunks: c.Chunks()}
	if before, err := loadedBefore(ctx, connection); err != nil || before.Tickets > 0 {
		if err == nil && (before.Tickets != want.Tickets || before.Chunks != want.Chunks) {
			err = fmt.Errorf("the database holds %d tickets and %d chunks of an earlier run, not %d and %d",
				before.Tickets, before.Chunks, want.Tickets, want.Chunks)
		}
		return before, err
	}
	progress(fmt.Sprintf("loading %d tickets", want.Tickets))
	started := time.Now()
	if err := loadText(ctx, connection, c); err != nil {
		return want, err
	}
	want.Text = time.Since(started)
	var err error
	if want.Vectors, want.Index, err = loadVectors(ctx, connection, c, progress); err != nil {
		return want, err
	}
	if err := loadRecipe(ctx, connection, progress); err != nil {
		return want, err
	}
	for _, table := range []string{"public.projects", "public.tickets", "public.comments", "public.chunks", "public.keyword_entries", "public.comment_entries", "tasklens.word_counts", "tasklens.word_count_changes", "bench.documents"} {
		if _, err := connection.Exec(ctx, "vacuum (analyze) "+table); err != nil {
			return want, fmt.Errorf("vacuum %s: %w", table, err)
		}
	}
	_, err = connection.Exec(ctx, `insert into bench.loaded values ($1, $2, $3, $4, $5)`, want.Tickets, want.Chunks, want.Text, want.Vectors, want.Index)
	if err != nil {
		return want, fmt.Errorf("record what is loaded: %w", err)
	}
	return want, nil
}

// prewarm puts a freshly started database into the state of one in long use. Each search reads a
// few hundred rows, so warming up by searches takes thousands. Indexes come last, so that they stay
// if memory is too small for everything.
func prewarm(ctx context.Context, connection *pgx.Conn) error {
	_, err := connection.Exec(ctx, `
		with tables as (
			select unnest(array[c.oid, nullif(c.reltoastrelid, 0)]) as oid
			from pg_class c where c.relnamespace in ('public'::regnamespace, 'tasklens'::regnamespace) and c.relkind = 'r'
		)
		select extensions.pg_prewarm(r.oid)
		from (
			select t.oid::regclass, false as is_index from tables t where t.oid is not null
			union all
			select i.indexrelid::regclass, true from pg_index i join tables t on t.oid = i.indrelid
			order by is_index
		) r`)
	if err != nil {
		return fmt.Errorf("read what is stored into memory: %w", err)
	}
	return nil
}

func loadedBefore(ctx context.Context, connection *pgx.Conn) (l Loaded, err error) {
	_, err = connection.Exec(ctx, `create schema if not exists bench;
		create table if not exists bench.loaded (tickets bigint, chunks bigint, text interval, vectors interval, index interval)`)
	if err != nil {
		return l, fmt.Errorf("create the schema bench: %w", err)
	}
	err = connection.QueryRow(ctx, `select coalesce(max(tickets), 0), coalesce(max(chunks), 0), coalesce(max(text), '0'), coalesce(max(vectors), '0'), coalesce(max(index), '0')
		from bench.loaded`).Scan(&l.Tickets, &l.Chunks, &l.Text, &l.Vectors, &l.Index)
	if err != nil {
		return l, fmt.Errorf("look for an earlier load: %w", err)
	}
	return l, nil
}

// loadText loads statuses, projects, tickets and their comments.
func loadText(ctx context.Context, connection *pgx.Conn, c Collection) error {
	for i, s := range statuses {
		if _, err := connection.Exec(ctx, `insert into public.status (status_id, name) values ($1, $2)`, i+1, s.name); err != nil {
			return fmt.Errorf("load statuses: %w", err)
		}
	}
	for project := 1; project <= c.Projects(); project++ {
		_, err := connection.Exec(ctx, `insert into public.projects (project_id, key, name) values ($1, $2, $3)`,
			project, fmt.Sprintf("B%d", project), words().words[topicsOf(project)[0]]+" "+words().words[common+project])
		if err != nil {
			return fmt.Errorf("load projects: %w", err)
		}
	}
	// A statement fires its triggers once, so keep it moderate.
	const batch = 2000
	for start := 0; start < c.Tickets(); start += batch {
		n := min(batch, c.Tickets()-start)
		_, err := connection.CopyFrom(ctx, pgx.Identifier{"public", "tickets"},
			[]string{"ticket_id", "key", "project_id", "status_id", "name", "description", "assignee", "ticket_type", "priority", "labels", "created_at", "updated_at", "due_date"},
			pgx.CopyFromSlice(n, func(i int) ([]any, error) {
				t := c.Ticket(start + i)
				a := c.attributes(start + i)
				return []any{
					int64(t.ID), t.Key(), int64(t.Project), int64(t.Status), t.Name, t.Description,
					a.assignee, a.kind, a.priority, a.labels, a.created, a.updated, a.due,
				}, nil
			}))
		if err != nil {
			return fmt.Errorf("load tickets: %w", err)
		}
		var comments [][]any
		for i := range n {
			t, written := c.Ticket(start+i), c.attributes(start+i).created
			for k, body := range t.Comments {
				comments = append(comments, []any{commentID(t, k), int64(t.ID), fmt.Sprintf("Person %d", k%7), body, written.Add(time.Duration(k+1) * time.Hour)})
			}
		}
		_, err = connection.CopyFrom(ctx, pgx.Identifier{"public", "comments"}, []string{"comment_id", "ticket_id", "author", "body", "created_at"}, pgx.CopyFromRows(comments))
		if err != nil {
			return fmt.Errorf("load comments: %w", err)
		}
	}
	return nil
}

// commentID returns the id of a ticket's comment k, from 0.
func commentID(t Ticket, k int) int64 { return int64(1000*t.ID + k) }

// loadVectors loads the chunks without their index and builds it afterwards, as usual for bulk
// loads.
func loadVectors(ctx context.Context, connection *pgx.Conn, c Collection, progress func(string)) (load, build time.Duration, err error) {
	progress(fmt.Sprintf("loading %d chunks", c.Chunks()))
	index, err := readIndex(ctx, connection)
	if err != nil {
		return 0, 0, err
	}
	if _, err := connection.Exec(ctx, "drop index public."+index.name); err != nil {
		return 0, 0, fmt.Errorf("drop the vector index: %w", err)
	}
	started := time.Now()
	var rows [][]any
	next := 0
	_, err = connection.CopyFrom(ctx, pgx.Identifier{"public", "chunks"},
		[]string{"project_id", "ticket_id", "comment_id", "kind", "position", "text", "tokens", "input_hash", "model", "embedding"},
		pgx.CopyFromFunc(func() ([]any, error) {
			if len(rows) == 0 {
				if next == c.Tickets() {
					return nil, nil
				}
				rows = chunkRows(c.Ticket(next))
				next++
			}
			row := rows[0]
			rows = rows[1:]
			return row, nil
		}))
	if err != nil {
		return 0, 0, fmt.Errorf("load chunks: %w", err)
	}
	load = time.Since(started)
	progress("building the vector index")
	started = time.Now()
	// The graph must fit into memory, or building takes many times as long.
	megabytes := 256 + c.Chunks()*10/1000
	for _, statement := range []string{fmt.Sprintf("set maintenance_work_mem = '%dMB'", megabytes), "set max_parallel_maintenance_workers = 2", index.definition,
		"select tasklens.recount_sources()"} {
		if _, err := connection.Exec(ctx, statement); err != nil {
			return 0, 0, fmt.Errorf("build the vector index: %w", err)
		}
	}
	return load, time.Since(started), nil
}

func chunkRows(t Ticket) (rows [][]any) {
	add := func(comment any, kind string, position int, text string) {
		sum := sha256.Sum256([]byte(text))
		rows = append(rows, []any{int64(t.Project), int64(t.ID), comment, kind, int32(position), text, int32(tokens(text)), hex.EncodeToString(sum[:]), model,
			encodeVector(embedChunk(text, t.Project, t.ID))})
	}
	for i, text := range t.Chunks {
		add(nil, "ticket", i, text)
	}
	for i, text := range t.Comments {
		add(commentID(t, i), "comment", 0, text)
	}
	return rows
}
