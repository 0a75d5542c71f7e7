package bench

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// vectorIndex is the vector index as found in the catalogue, so that a change of its expression in
// a migration needs no change here.
type vectorIndex struct {
	name, definition string
	half             bool // over 16-bit numbers
}

func readIndex(ctx context.Context, connection *pgx.Conn) (v vectorIndex, err error) {
	err = connection.QueryRow(ctx, `select c.relname, pg_get_indexdef(i.indexrelid)
		from pg_index i join pg_class c on c.oid = i.indexrelid
		where i.indrelid = 'public.chunks'::regclass and c.relname = 'chunks_embedding_idx'`).Scan(&v.name, &v.definition)
	if err != nil {
		return v, fmt.Errorf("find the vector index of public.chunks: %w", err)
	}
	v.half = strings.Contains(v.definition, "halfvec")
	return v, nil
}

// distance returns the index's ordering expression. alias is the chunks table, vector the query.
func (v vectorIndex) distance(alias, vector string) string {
	if v.half {
		return fmt.Sprintf("%s.embedding::extensions.halfvec(1536) operator(extensions.<=>) %s::extensions.halfvec(1536)", alias, vector)
	}
	return fmt.Sprintf("%s.embedding operator(extensions.<=>) %s", alias, vector)
}

// sizes returns the sizes of the tables and indexes used by search.
func sizes(ctx context.Context, connection *pgx.Conn) (rows [][]string, err error) {
	result, err := connection.Query(ctx, `
		select c.relname, pg_size_pretty(case when c.relkind = 'i' then pg_relation_size(c.oid) else pg_table_size(c.oid) end)
		from pg_class c
		where c.oid in ('public.chunks'::regclass, 'public.keyword_entries'::regclass, 'tasklens.word_counts'::regclass)
			or exists (select from pg_index i where i.indexrelid = c.oid and i.indrelid in ('public.chunks'::regclass, 'public.keyword_entries'::regclass)
				and c.relam in (select a.oid from pg_am a where a.amname in ('hnsw', 'gin')))
		order by c.relkind desc, c.relname`)
	if err != nil {
		return nil, fmt.Errorf("measure sizes: %w", err)
	}
	return pgx.CollectRows(result, func(row pgx.CollectableRow) ([]string, error) {
		var name, size string
		err := row.Scan(&name, &size)
		return []string{name, size}, err
	})
}
