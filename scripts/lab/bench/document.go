package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/vector"
)

// document generates document i, from 0, as a row of made: a text on one or two topics with some of
// its words as keywords, up to three years old, of any class and any number of votes.
func document(i int) []any {
	random := rand.New(rand.NewPCG(seed+5, uint64(i)))
	main, side := random.IntN(topics), random.IntN(topics)
	title := words().text(random, main, side, 3+random.IntN(7))
	text := words().text(random, main, side, 60+random.IntN(200))
	some := strings.Fields(title + " " + text)
	keywords := make([]string, 2+random.IntN(9))
	for k := range keywords {
		keywords[k] = some[random.IntN(min(len(some), 30))]
	}
	classes := []*string{new("evergreen"), new("current"), new("dated"), new("historical"), nil}
	utility := 0.0
	if random.Float64() < 0.5 {
		utility = 10 * random.Float64()
	}
	return []any{title, text, keywords, classes[random.IntN(len(classes))], utility, 3 * 365 * random.Float64(), encodeVector(Embed(title+" "+text, vector.ShortDimensions))}
}

const makeDocuments = `create temporary table made (id uuid default gen_random_uuid(), title text, content text, keywords text[], temporal_class text,
	utility_score double precision, age double precision, embedding extensions.vector(768))`

// keepDocuments stores the generated documents: one chunk each, and no queue entries.
var keepDocuments = []string{
	`insert into public.documents (id, title, content, keywords, temporal_class, utility_score, created_at, embedding_status)
		select id, title, content, keywords, temporal_class, utility_score, now() - make_interval(secs => 86400 * age), 'complete' from made`,
	`delete from tasklens.embedding_jobs where source_id in (select source_id from tasklens.sources where document_id is not null)`,
	`insert into public.document_chunks (chunk_id, document_id, position, text, tokens, input_hash) select id, id, 0, content, length(content) / 4, 'h' from made`,
	`insert into public.embeddings (document_id, chunk_id, model, embedding) select id, c.chunk_id, '` + model + `', embedding from made
		cross join lateral (values (null), (id)) as c(chunk_id)`,
	`select tasklens.recount_sources()`,
}

// loadDocuments fills a database without documents. It accepts one that already has this many.
func loadDocuments(ctx context.Context, connection *pgx.Conn, count int, progress func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	var there int
	if err := connection.QueryRow(ctx, `select count(*) from public.documents`).Scan(&there); err != nil {
		return fmt.Errorf("count documents: %w", err)
	}
	if there == count {
		return nil
	}
	if there > 0 {
		return fmt.Errorf("the database holds %d documents of an earlier run, not %d", there, count)
	}
	progress(fmt.Sprintf("loading %d documents", count))
	err := pgx.BeginFunc(ctx, connection, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, makeDocuments); err != nil {
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"made"}, []string{"title", "content", "keywords", "temporal_class", "utility_score", "age", "embedding"},
			pgx.CopyFromSlice(count, func(i int) ([]any, error) { return document(i), nil }))
		if err != nil {
			return err
		}
		return withoutIndexes(ctx, tx, func() error {
			for _, statement := range keepDocuments {
				if _, err := tx.Exec(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err == nil {
		_, err = connection.Exec(ctx, "vacuum (analyze) public.documents, public.document_chunks, public.embeddings")
	}
	if err != nil {
		return fmt.Errorf("load documents: %w", err)
	}
	return nil
}

// withoutIndexes rebuilds the vector indexes of documents after a load, which is faster than
// growing them.
func withoutIndexes(ctx context.Context, tx pgx.Tx, load func() error) error {
	rows, err := tx.Query(ctx, `select 'drop index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
		from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
		where i.indrelid = 'public.embeddings'::regclass and a.amname = 'hnsw'`)
	if err != nil {
		return err
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Drop, Make string }])
	if err != nil {
		return err
	}
	for _, index := range indexes {
		if _, err := tx.Exec(ctx, index.Drop); err != nil {
			return err
		}
	}
	if err := load(); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "set local maintenance_work_mem = '512MB'"); err != nil {
		return err
	}
	for _, index := range indexes {
		if _, err := tx.Exec(ctx, index.Make); err != nil {
			return err
		}
	}
	return nil
}
