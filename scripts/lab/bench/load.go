package bench

import (
	"context"
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
const loadTimeout = 3 * time.Hour

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

func loadedBefore(ctx context.Context, connection *pgx.Conn) (tickets, chunks int, err error) {
	_, err = connection.Exec(ctx, `create schema if not exists bench; create table if not exists bench.loaded (tickets bigint, chunks bigint)`)
	if err != nil {
		return 0, 0, fmt.Errorf("create the schema bench: %w", err)
	}
	err = connection.QueryRow(ctx, `select coalesce(max(tickets), 0), coalesce(max(chunks), 0) from bench.loaded`).Scan(&tickets, &chunks)
	if err != nil {
		return 0, 0, fmt.Errorf("look for an earlier load: %w", err)
	}
	return tickets, chunks, nil
}

// fill fills a database with a collection and records that in the schema bench. It goes on with a
// load that was interrupted, and leaves a database alone that holds the collection.
func fill(ctx context.Context, connection *pgx.Conn, c Collection, progress func(string)) error {
	tickets, chunks, err := loadedBefore(ctx, connection)
	switch {
	case err != nil:
		return err
	case tickets == c.Tickets() && chunks == c.Chunks():
		return nil
	case tickets > 0:
		return fmt.Errorf("the database holds %d tickets and %d chunks of an earlier run, not %d and %d", tickets, chunks, c.Tickets(), c.Chunks())
	}
	started := time.Now()
	if err := loadText(ctx, connection, c, progress); err != nil {
		return err
	}
	if err := loadVectors(ctx, connection, c, progress); err != nil {
		return err
	}
	progress("counting and cleaning up")
	if _, err := connection.Exec(ctx, "select tasklens.recount_sources()"); err != nil {
		return fmt.Errorf("count the chunks of the sources: %w", err)
	}
	for _, table := range []string{"public.projects", "public.tickets", "public.comments", "public.chunks", "public.keyword_entries", "public.comment_entries", "tasklens.word_counts", "tasklens.word_count_changes"} {
		if _, err := connection.Exec(ctx, "vacuum (analyze) "+table); err != nil {
			return fmt.Errorf("vacuum %s: %w", table, err)
		}
	}
	progress(fmt.Sprintf("loaded in %.0f s", time.Since(started).Seconds()))
	if _, err := connection.Exec(ctx, `insert into bench.loaded values ($1, $2)`, c.Tickets(), c.Chunks()); err != nil {
		return fmt.Errorf("record what is loaded: %w", err)
	}
	return nil
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
