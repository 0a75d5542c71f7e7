package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The usual recipe: the hybrid search of Supabase's guide
// (supabase.com/docs/guides/ai/hybrid-search), with a generated tsvector column and ts_rank_cd. It
// uses the same vector index; its order by is rewritten so that the index is always used. Any of
// the words may match, since few tickets have all.
const recipe = `
create table bench.documents (
  chunk_id uuid primary key,
  content text not null,
  fts tsvector generated always as (to_tsvector('english', content)) stored
);
insert into bench.documents (chunk_id, content) select c.chunk_id, c.text from public.chunks c;
create index documents_fts_idx on bench.documents using gin (fts);
grant usage on schema bench to service_role;
grant select on bench.documents to service_role;
`

const recipeFunction = `
create or replace function bench.hybrid_any_word(query_text text, query_embedding extensions.vector(1536), match_count integer, rrf_k integer default 50)
returns setof bench.documents
language sql stable
as $$
with full_text as (
  select d.chunk_id, row_number() over (order by ts_rank_cd(d.fts, q.words) desc) as rank_ix
  from bench.documents d, (select replace(plainto_tsquery('english', query_text)::text, ' & ', ' | ')::tsquery) q(words)
  where d.fts @@ q.words
  order by rank_ix
  limit least(match_count, 30) * 2
), semantic as (
  select n.chunk_id, row_number() over (order by n.distance) as rank_ix
  from (
    select c.chunk_id, DISTANCE as distance from public.chunks c
    where c.embedding_set = 1
    order by DISTANCE
    limit least(match_count, 30) * 2
  ) n
)
select d.*
from full_text f
full outer join semantic s on f.chunk_id = s.chunk_id
join bench.documents d on coalesce(f.chunk_id, s.chunk_id) = d.chunk_id
order by coalesce(1.0 / (rrf_k + f.rank_ix), 0.0) + coalesce(1.0 / (rrf_k + s.rank_ix), 0.0) desc
limit least(match_count, 30)
$$
`

// loadRecipe copies the texts into the recipe's own table.
func loadRecipe(ctx context.Context, connection *pgx.Conn, progress func(string)) error {
	progress("indexing the usual recipe")
	if _, err := connection.Exec(ctx, recipe); err != nil {
		return fmt.Errorf("index the usual recipe: %w", err)
	}
	return nil
}

// makeRecipe creates its function for the existing vector index.
func makeRecipe(ctx context.Context, connection *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	index, err := readIndex(ctx, connection)
	if err != nil {
		return err
	}
	if _, err := connection.Exec(ctx, strings.ReplaceAll(recipeFunction, "DISTANCE", index.distance("c", "query_embedding"))); err != nil {
		return fmt.Errorf("create the usual recipe: %w", err)
	}
	return nil
}
