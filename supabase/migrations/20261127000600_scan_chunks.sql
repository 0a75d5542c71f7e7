-- All bulk comparisons of chunks' vectors happen here.

-- conditions: on public.chunks c, with the parameters of scan_chunks. of_each: to be checked after
-- them, one chunk at a time, in order of distance. source: what an exact scan reads. tickets and
-- projects: whose chunks these are, if few entries match; else null.
create type tasklens.chunk_scan as (conditions text, of_each text, source text, tickets bigint[], projects bigint[]);
comment on type tasklens.chunk_scan is 'The chunks that a vector search compares.';

-- If a search can match few entries, all their chunks are compared, which misses nothing; else each
-- chunk is checked in order of distance.
create function tasklens.plan_scan(search tasklens.search) returns tasklens.chunk_scan
language plpgsql stable security invoker set search_path = ''
as $$
declare
  scope constant tasklens.scope := search.scope;
  query constant tasklens.query := search.query;
  scan tasklens.chunk_scan;
begin
  -- Literal, to match the predicates of the partial indexes.
  scan.conditions := format('c.embedding_set = %s and c.model = $3', tasklens.searched_set(search.embedding_model));
  scan.of_each := '';
  scan.source := 'public.chunks c';
  if cardinality(query.excluded_tickets) > 0 then
    -- A subquery is hashed; the array would be searched from its start for every chunk.
    scan.conditions := scan.conditions || ' and (c.ticket_id in (select unnest(($6).excluded_tickets))) is not true';
  end if;
  -- Inline, because a common word is looked for in thousands of chunks.
  if query.excluded is not null then
    scan.of_each := ' and (case
        when c.ticket_id is not null then (select e.words @@ ($6).excluded from public.keyword_entries e where e.ticket_id = c.ticket_id)
        else (select e.words @@ ($6).excluded from public.keyword_entries e where e.ticket_id is null and e.project_id = c.project_id) end) is false';
  end if;
  -- The few entries hold the phrases that are required of words, which may not be required here.
  if search.few is not null and query.required is not distinct from query.required_of_chunks then
    scan.tickets := array(
      select e.ticket_id from public.keyword_entries e where e.keyword_entry_id = any (search.few) and e.ticket_id is not null);
    scan.projects := array(
      select e.project_id from public.keyword_entries e where e.keyword_entry_id = any (search.few) and e.ticket_id is null);
    scan.source := '(
      select c.* from public.chunks c where c.ticket_id = any ($7)
      union all
      select c.* from public.chunks c where c.ticket_id is null and c.project_id = any ($8)) c';
    return scan;
  end if;
  if scope.projects is not null then
    scan.conditions := scan.conditions || ' and c.project_id = any (($1).projects)';
  end if;
  if query.required_of_chunks is not null then
    scan.of_each := ' and (case
        when c.ticket_id is not null then (select e.words @@ ($6).required_of_chunks from public.keyword_entries e where e.ticket_id = c.ticket_id)
          or exists (select from public.comment_entries m where m.ticket_id = c.ticket_id and m.words @@ ($6).required_of_chunks)
        else (select e.words @@ ($6).required_of_chunks from public.keyword_entries e where e.ticket_id is null and e.project_id = c.project_id) end)'
      || scan.of_each;
  end if;
  if scope.on_tickets then
    -- A scalar subquery cannot become a join, which would lose the order of the index.
    scan.of_each := format(' and (select %s from public.tickets t where t.ticket_id = c.ticket_id)', scope.condition_of_one) || scan.of_each;
  end if;
  return scan;
end
$$;
comment on function tasklens.plan_scan is 'Which chunks a search compares: all those of its few entries, else those that pass, through the index.';

-- Always the nearest chunk (it shows how close a failed search came), then those strictly over the
-- threshold, until there are chunk_limit chunks, or chunks of source_limit different tickets and
-- projects.
--
-- The HNSW index is scanned iteratively. Relaxed order needs reading more than wanted and sorting
-- here; strict_order would drop late rows, up to all ten true neighbours under a filter. If the
-- index stops early (after hnsw.max_scan_tuples, or because one long ticket or dead rows fill its
-- graph), all chunks are compared.
create function tasklens.scan_chunks(search tasklens.search, chunk_limit integer, source_limit integer)
returns table (chunk_id uuid, project_id bigint, ticket_id bigint, similarity double precision)
-- JIT compilation and parallel workers cost more than any of these queries. Custom plans, whatever
-- the caller has set: a generic plan reads all chunks.
language plpgsql stable rows 300 security invoker
set search_path = '' set jit = off set max_parallel_workers_per_gather = 0 set plan_cache_mode = auto
as $$
declare
  scan tasklens.chunk_scan;
  exact boolean;
  query text;
  saved_sort constant text := current_setting('enable_sort');
  reach integer; -- number of chunks to read
  chunk_ids uuid[];
  project_ids bigint[];
  ticket_ids bigint[];
  similarities double precision[];
  chunks integer;
  sources integer; -- tickets and projects
  below integer; -- chunks at or below the threshold
begin
  if (search.scope).is_empty then
    return;
  end if;
  scan := tasklens.plan_scan(search);
  exact := scan.tickets is not null;
  -- ef_search 100 finds the ten nearest of 50,000 chunks; a larger graph needs more, 224 for
  -- 200,000. Tickets have several chunks. For an exact scan, more cost almost nothing.
  select greatest(100, case when exact then 5 else 1.5 end * least(chunk_limit, source_limit), 0.5 * sqrt(greatest(0, c.reltuples)))::integer into reach
    from pg_catalog.pg_class c where c.oid = 'public.chunks'::regclass;

  loop
    if exact then
      query := format('with compared as materialized (
          select c.chunk_id, c.project_id, c.ticket_id, c.embedding operator(extensions.<=>) $2 as distance from %s where %s)
        select c.chunk_id, c.project_id, c.ticket_id, c.distance
        from (select f.* from compared f order by f.distance, f.chunk_id offset 0) c where true%s limit $4',
        scan.source, scan.conditions, scan.of_each);
    else
      query := format('select c.chunk_id, c.project_id, c.ticket_id, c.embedding operator(extensions.<=>) $2 as distance
        from public.chunks c where %s%s
        order by c.embedding operator(extensions.<=>) $2 limit $4', scan.conditions, scan.of_each);
      -- A single batch if possible, because the next costs as much again. The extra tenth covers
      -- rows that do not appear here: dead ones, and those of another model.
      perform set_config('hnsw.ef_search', least(1000, reach + reach / 10)::text, true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('enable_sort', 'off', true); -- force the order to come from the index, whatever the statistics say
    end if;
    execute format('select array_agg(r.chunk_id), array_agg(r.project_id), array_agg(r.ticket_id), array_agg(1 - r.distance), count(*),
        count(distinct coalesce(r.ticket_id, -r.project_id)), count(*) filter (where (1 - r.distance > $5) is not true) from (%s) r', query)
      into chunk_ids, project_ids, ticket_ids, similarities, chunks, sources, below
      using search.scope, search.embedding, search.embedding_model, reach, search.match_threshold, search.query, scan.tickets, scan.projects;
    perform set_config('enable_sort', saved_sort, true);
    -- An exact scan is in order, so one chunk at or below the threshold ends it; batches overlap.
    -- If the index returned less than requested, it stopped early and may have missed nearer
    -- chunks.
    exit when (exact or chunks >= reach)
      and (chunks >= chunk_limit or sources >= source_limit or below >= case when exact then 1 else 20 end);
    if chunks < reach then
      exit when exact;
      exact := true;
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
    where p.place = 1 or p.similarity > search.match_threshold
    order by p.place
    limit chunk_limit;
end
$$;
comment on function tasklens.scan_chunks is
  'The chunks of a search by cosine similarity, filtered before ranking: the nearest one, then those over the threshold. Only vectors of its model are compared.';

insert into tasklens.migrations (version) values ('20261127000600');
