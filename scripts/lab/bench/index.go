package bench

import (
	"context"
	"fmt"
	"time"
)

// Indexes are the kinds of index that can order chunks by their vectors, with the expression and
// the operators of each.
var Indexes = map[string]string{
	"whole":  "embedding extensions.vector_cosine_ops",
	"half":   "(embedding::extensions.halfvec(1536)) extensions.halfvec_cosine_ops",
	"prefix": "(extensions.subvector(embedding, 1, 512)::extensions.halfvec(512)) extensions.halfvec_cosine_ops",
	"signs":  "(extensions.binary_quantize(embedding)::bit(1536)) extensions.bit_hamming_ops",
}

// reindex puts an index of the kind in the place of the vector index, unless it is there already
// from an earlier run, and reports its size and how long it took to build.
func (r Run) reindex(ctx context.Context) (Table, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	var there string
	var took float64 // seconds
	const read = `select coalesce(split_part(obj_description(i), ' ', 1), 'whole'), coalesce(split_part(obj_description(i), ' ', 2), '0')::float8
		from to_regclass('public.chunks_embedding_idx') i`
	if err := r.Connection.QueryRow(ctx, read).Scan(&there, &took); err != nil {
		return Table{}, fmt.Errorf("look for the vector index: %w", err)
	}
	if there != r.Index {
		r.Progress("building the index " + r.Index)
		started := time.Now()
		for _, statement := range []string{
			`drop index if exists public.chunks_embedding_idx`,
			`set maintenance_work_mem = '4GB'`,
			`create index chunks_embedding_idx on public.chunks using hnsw (` + Indexes[r.Index] + `) with (ef_construction = 128) where embedding_set = 1`,
			`reset maintenance_work_mem`,
		} {
			if _, err := r.Connection.Exec(ctx, statement); err != nil {
				return Table{}, fmt.Errorf("build the index %s: %w", r.Index, err)
			}
		}
		took = time.Since(started).Seconds()
		if _, err := r.Connection.Exec(ctx, fmt.Sprintf(`comment on index public.chunks_embedding_idx is '%s %.0f'`, r.Index, took)); err != nil {
			return Table{}, fmt.Errorf("name the index: %w", err)
		}
	}
	var size int64
	if err := r.Connection.QueryRow(ctx, `select pg_relation_size('public.chunks_embedding_idx')`).Scan(&size); err != nil {
		return Table{}, fmt.Errorf("measure the index: %w", err)
	}
	return Table{Title: "The vector index", Header: []string{"kind", "MB", "bytes a chunk", "built in, s"},
		Rows: [][]string{{r.Index, fmt.Sprintf("%.0f", float64(size)/1e6), fmt.Sprint(size / int64(r.Collection.Chunks())), fmt.Sprintf("%.0f", took)}}}, nil
}
