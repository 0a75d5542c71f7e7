-- All bulk comparisons of chunks' vectors happen here.

-- If a search can match few entries, all their chunks are compared, which misses nothing; else each
-- chunk is checked in order of distance. The result: the nearest chunk, with_nearest whatever its
-- similarity (it shows how close a failed search came), then those strictly over the threshold,
-- until there are chunk_limit chunks, or chunks of source_limit different tickets and projects.
--
-- The HNSW index is scanned iteratively. Relaxed order needs reading more than wanted and sorting
-- here; strict_order would drop late rows, up to all ten true neighbours under a filter. Beyond
-- hnsw.max_scan_tuples the index returns what it has met, not the nearest, so filters apply to a
-- limited number of the nearest chunks: these cost about as much as comparing all that pass. If too
-- few of them pass, or one long ticket or dead rows fill the graph, all that pass are compared.
--
-- An index of the same name on a shorter form of the vectors (their signs, their first numbers,
-- half precision) can take the place of the one on whole vectors: its order chooses candidates.
create function tasklens.scan_chunks(search tasklens.search, chunk_limit integer, source_limit integer, with_nearest boolean)
returns table (chunk_id uuid, project_id bigint, ticket_id bigint, similarity double precision)
-- JIT compilation and parallel workers cost more than any of these queries. Custom plans, whatever
-- the caller has set: a generic plan reads all chunks.
language plpgsql stable rows 300 security invoker
set search_path = '' set jit = off set max_parallel_workers_per_gather = 0 set plan_cache_mode = auto
as $$
declare
  scope constant tasklens.scope := search.scope;
  asked constant tasklens.query := search.query;
  exact boolean := search.few is not null;
  -- On public.chunks c. The set is literal, to match the predicates of the partial indexes.
  set_id constant smallint := tasklens.searched_set(search.embedding_model);
  stored constant text := format('c.embedding_set = %s and c.model = $3', set_id);
  conditions text := '';
  of_each text := ''; -- checked after them, one chunk at a time, in order of distance
  source text := 'public.chunks c'; -- what an exact scan reads
  few_tickets bigint[];
  few_projects bigint[];
  statement text;
  saved_sort constant text := current_setting('enable_sort');
  reach integer; -- number of chunks to read, and to compare by whole vectors
  breadth integer; -- least number of places that a scan of the index keeps
  span integer; -- number of the nearest chunks that filters apply to
  is_wide boolean := false; -- the first span passed too few
  nearest text; -- the order that the vector index has
  chunk_ids uuid[];
  project_ids bigint[];
  ticket_ids bigint[];
  similarities double precision[];
  compared integer; -- chunks that pass, and those at or below the threshold
  chunks integer; -- that pass
  sources integer; -- their tickets and projects
  below integer; -- chunks at or below the threshold
begin
  if scope.is_empty then
    return;
  end if;
  if cardinality(asked.excluded_tickets) > 0 then
    -- A subquery is hashed; the array would be searched from its start for every chunk.
    conditions := conditions || ' and (c.ticket_id in (select unnest(($6).excluded_tickets))) is not true';
  end if;
  -- Inline, because a common word is looked for in thousands of chunks.
  if asked.excluded is not null then
    of_each := ' and (select e.words @@ ($6).excluded from public.keyword_entries e where e.keyword_entry_id = coalesce(c.ticket_id, ~c.project_id)) is false';
  end if;
  if exact then
    select array_agg(u) filter (where u >= 0), array_agg(~u) filter (where u < 0) into few_tickets, few_projects from unnest(search.few) as u;
    source := '(
      select c.* from public.chunks c where c.ticket_id = any ($7)
      union all
      select c.* from public.chunks c where c.ticket_id is null and c.project_id = any ($8)) c';
  else
    if scope.projects is not null then
      conditions := conditions || ' and c.project_id = any (($1).projects)';
    end if;
    if asked.required is not null then
      of_each := ' and ((select e.words @@ ($6).required from public.keyword_entries e where e.keyword_entry_id = coalesce(c.ticket_id, ~c.project_id))
          or exists (select from public.comment_entries m where m.ticket_id = c.ticket_id and m.words @@ ($6).required))'
        || of_each;
    end if;
    if scope.on_tickets then
      -- A scalar subquery cannot become a join, which would lose the order of the index.
      of_each := format(' and (select %s from public.tickets t where t.ticket_id = c.ticket_id)', scope.condition_of_one) || of_each;
    end if;
  end if;
  -- Tickets have several chunks. For an exact scan, more cost almost nothing.
  reach := greatest(100, case when exact then 5 else 1.5 end * least(chunk_limit, source_limit))::integer;
  if not exact then
    select format('%s operator(extensions.%s) %s', regexp_replace(d.indexed, '\membedding\M', 'c.embedding'), o.oprname, regexp_replace(d.indexed, '\membedding\M', '$2')),
        -- A shorter form only chooses candidates: the nearest by whole vectors are among the first
        -- three times as many by the first numbers, four times as many by signs (docs/scale.md).
        reach * case when f.opcname = 'bit_hamming_ops' then 4 when d.indexed ~ 'subvector' then 3 else 1 end,
        -- 100 finds the ten nearest of 50,000 chunks; a larger graph needs more, 270 for 200,000,
        -- and 1,000 for a million.
        greatest(0.6 * sqrt(greatest(0, t.reltuples)), t.reltuples / 1000)
      into nearest, reach, breadth
      from pg_catalog.pg_index i
      join pg_catalog.pg_class t on t.oid = i.indrelid
      join pg_catalog.pg_opclass f on f.oid = i.indclass[0]
      join pg_catalog.pg_amop a on a.amopfamily = f.opcfamily and a.amoplefttype = f.opcintype and a.amoppurpose = 'o'
      join pg_catalog.pg_operator o on o.oid = a.amopopr
      cross join lateral (select pg_catalog.pg_get_indexdef(i.indexrelid, 1, false) as indexed) d
      where i.indexrelid = to_regclass(case set_id when 1 then 'public.chunks_embedding_idx' else 'public.chunks_embedding_2_idx' end);
    exact := not found;
  end if;

  loop
    if exact then
      statement := format('with compared as materialized (
          select c.chunk_id, c.project_id, c.ticket_id, c.embedding operator(extensions.<=>) $2 as distance from %s where %s%s)
        select c.chunk_id, c.project_id, c.ticket_id, c.distance, true as passes
        from (select f.* from compared f order by f.distance, f.chunk_id offset 0) c where true%s limit $4',
        source, stored, conditions, of_each);
    else
      -- Once twenty are at or below the threshold, others that pass would be, too.
      span := greatest(case when is_wide then 15 else 3 end * greatest(100, breadth), 4 * reach);
      statement := format('select c.* from (
          select c.chunk_id, c.project_id, c.ticket_id, c.distance, true%s%s as passes from (
            select c.chunk_id, c.project_id, c.ticket_id, c.embedding operator(extensions.<=>) $2 as distance
            from public.chunks c where %s order by %s limit $9) c
          offset 0) c
        where c.passes or (1 - c.distance > $5) is not true limit $4', conditions, of_each, stored, nearest);
      -- A single batch if possible, because the next costs as much again. The extra tenth covers
      -- rows that do not appear here: dead ones, and those of another model.
      perform set_config('hnsw.ef_search', least(1000, case when is_wide then span else greatest(breadth, reach + reach / 10) end)::text, true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.max_scan_tuples', '2147483647', true), -- span ends it before
        set_config('hnsw.scan_mem_multiplier', '32', true), -- of work_mem, which a wide scan of a million chunks exceeds
        set_config('enable_sort', 'off', true); -- force the order to come from the index, whatever the statistics say
    end if;
    execute format('select array_agg(r.chunk_id) filter (where r.passes), array_agg(r.project_id) filter (where r.passes),
        array_agg(r.ticket_id) filter (where r.passes), array_agg(1 - r.distance) filter (where r.passes), count(*), count(*) filter (where r.passes),
        count(distinct coalesce(r.ticket_id, -r.project_id)) filter (where r.passes), count(*) filter (where (1 - r.distance > $5) is not true)
        from (%s) r', statement)
      into chunk_ids, project_ids, ticket_ids, similarities, compared, chunks, sources, below
      using scope, search.embedding, search.embedding_model, reach, search.match_threshold, asked, few_tickets, few_projects, span;
    perform set_config('enable_sort', saved_sort, true);
    -- An exact scan is in order, so one chunk at or below the threshold ends it; batches overlap.
    -- If the index returned less than requested, it stopped early and may have missed nearer
    -- chunks.
    exit when (exact or compared >= reach and (chunks > 0 or not with_nearest))
      and (chunks >= chunk_limit or sources >= source_limit or below >= case when exact then 1 else 20 end);
    if compared < reach or sources = 0 then
      exit when exact;
      -- Far from the query, the graph misses more.
      exact := is_wide;
      is_wide := true;
      reach := 3 * reach;
    elsif exact then
      reach := chunk_limit; -- the exact scan runs at most twice
    else
      -- Restart with a larger batch, extrapolated from this one.
      reach := least(chunk_limit, ceil(reach * greatest(2, least(4, 1.25 * source_limit / sources)))::integer);
    end if;
  end loop;

  return query
    select p.chunk_id, p.project_id, p.ticket_id, p.similarity
    from (
      select f.*, row_number() over (order by f.similarity desc, f.chunk_id) as place
      from unnest(chunk_ids, project_ids, ticket_ids, similarities) as f(chunk_id, project_id, ticket_id, similarity)
    ) p
    where with_nearest and p.place = 1 or p.similarity > search.match_threshold
    order by p.place
    limit chunk_limit;
end
$$;
comment on function tasklens.scan_chunks is
  'The chunks of a search by cosine similarity, filtered before ranking: the nearest one (with_nearest), then those over the threshold. Only vectors of its model are compared.';

insert into tasklens.migrations (version) values ('20261127000600');
