package bench

import (
	"context"
	"fmt"
	"time"
)

// indexKind is a kind of index that can order chunks by their vectors.
type indexKind struct {
	on       string // expression and operators
	building int    // bytes of memory a chunk, so that the graph is built in memory
}

// Indexes are the kinds of vector index.
var Indexes = map[string]indexKind{
	"whole":  {"embedding extensions.vector_cosine_ops", 9000},
	"half":   {"(embedding::extensions.halfvec(1536)) extensions.halfvec_cosine_ops", 5500},
	"prefix": {"(extensions.subvector(embedding, 1, 512)::extensions.halfvec(512)) extensions.halfvec_cosine_ops", 2500},
	"signs":  {"(extensions.binary_quantize(embedding)::bit(1536)) extensions.bit_hamming_ops", 1500},
}

// Load loads what is missing, builds the vector index unless it is there, and reads everything into
// memory with the extension pg_prewarm, which must be installed. It reports on the index.
func (r Run) Load(ctx context.Context) (Table, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	if err := fill(ctx, r.Connection, r.Collection, r.Progress); err != nil {
		return Table{}, err
	}
	table, err := r.index(ctx)
	if err != nil {
		return Table{}, err
	}
	return table, prewarm(ctx, r.Connection)
}

// index puts an index of the kind in the place of the vector index, unless it is there from an
// earlier run, and reports its size and how long it took to build.
func (r Run) index(ctx context.Context) (Table, error) {
	var kind string
	var took float64 // seconds
	const read = `select coalesce(max(split_part(d, ' ', 1)), ''), coalesce(max(split_part(d, ' ', 2))::float8, 0)
		from obj_description(to_regclass('public.chunks_embedding_idx'), 'pg_class') d`
	if err := r.Connection.QueryRow(ctx, read).Scan(&kind, &took); err != nil {
		return Table{}, fmt.Errorf("look for the vector index: %w", err)
	}
	if wanted := r.Index; kind == "" || wanted != "" && wanted != kind {
		if kind = wanted; kind == "" {
			kind = "whole"
		}
		r.Progress("building the vector index, " + kind)
		started := time.Now()
		for _, statement := range []string{
			`drop index if exists public.chunks_embedding_idx`,
			`set max_parallel_maintenance_workers = 2`,
			// If the graph does not fit into memory, building takes many times as long.
			fmt.Sprintf(`set maintenance_work_mem = '%dMB'`, 256+Indexes[kind].building*r.Collection.Chunks()/1e6),
			`create index chunks_embedding_idx on public.chunks using hnsw (` + Indexes[kind].on + `) with (ef_construction = 128) where embedding_set = 1`,
			`reset maintenance_work_mem`,
		} {
			if _, err := r.Connection.Exec(ctx, statement); err != nil {
				return Table{}, fmt.Errorf("build the vector index, %s: %w", kind, err)
			}
		}
		took = time.Since(started).Seconds()
		if _, err := r.Connection.Exec(ctx, fmt.Sprintf(`comment on index public.chunks_embedding_idx is '%s %.0f'`, kind, took)); err != nil {
			return Table{}, fmt.Errorf("name the vector index: %w", err)
		}
	}
	var size, all int64
	err := r.Connection.QueryRow(ctx, `select pg_relation_size('public.chunks_embedding_idx'), pg_database_size(current_database())`).Scan(&size, &all)
	if err != nil {
		return Table{}, fmt.Errorf("measure the vector index: %w", err)
	}
	return Table{Title: "The vector index", Header: []string{"kind", "MB", "bytes a chunk", "built in, s", "MB of the database"},
		Rows: [][]string{{kind, fmt.Sprintf("%.0f", float64(size)/1e6), fmt.Sprint(size / int64(r.Collection.Chunks())), fmt.Sprintf("%.0f", took), fmt.Sprintf("%.0f", float64(all)/1e6)}}}, nil
}
