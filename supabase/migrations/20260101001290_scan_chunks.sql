-- All bulk comparisons of chunks' vectors happen here.

-- The number of tickets up to which all chunks are compared exactly. A comparison costs about 4 µs
-- per chunk; the index costs about 23 µs per row that it reads, and reads more the rarer matches
-- are. Break-even is at sqrt(6 × wanted × all chunks); the exact scan may cost 1.5 times as much,
-- because it misses nothing.
create function private.narrow_limit(wanted integer) returns integer
language plpgsql stable security invoker set search_path = ''
as $$
declare
  all_chunks double precision;
  chunks_per_ticket double precision;
begin
  -- reltuples is -1 before the first analyze, and an estimate after it.
  select greatest(0, c.reltuples), case when c.reltuples > 0 and t.reltuples > 0 then least(10, greatest(1, c.reltuples / t.reltuples)) else 1 end
    into all_chunks, chunks_per_ticket
    from pg_catalog.pg_class c, pg_catalog.pg_class t
    where c.oid = 'public.chunks'::regclass and t.oid = 'public.tickets'::regclass;
  return greatest(4000, 1.5 * sqrt(6 * wanted * all_chunks)) / chunks_per_ticket;
end
$$;
comment on function private.narrow_limit is 'The number of tickets up to which comparing all their chunks costs less than finding the wanted number in the vector index.';

-- Counts tickets with an index-only scan, up to the limit.
create function private.is_narrow(scope private.scope, wanted integer) returns boolean
language plpgsql stable security invoker set search_path = ''
as $$
declare
  ticket_limit constant integer := private.narrow_limit(wanted);
  narrow boolean;
begin
  -- Planned separately for every filter.
  execute format('select count(*) <= $2 from (select 1 from public.tickets t where %s limit $2 + 1) as counted', scope.condition)
    into narrow using scope, ticket_limit;
  return narrow;
end
$$;
comment on function private.is_narrow is 'Whether comparing all chunks of a scope costs less than finding the wanted number in the vector index.';

create function private.narrow_tickets(scope private.scope, wanted integer) returns bigint[]
language plpgsql stable security invoker set search_path = ''
as $$
declare
  ticket_limit constant integer := private.narrow_limit(wanted);
  reach integer;
  ticket_ids bigint[];
begin
  foreach reach in array array[least(500, ticket_limit), ticket_limit] loop
    execute format('select array(select t.ticket_id from public.tickets t where %s limit $2 + 1)', scope.condition)
      into ticket_ids using scope, reach;
    if cardinality(ticket_ids) <= reach then
      return ticket_ids;
    end if;
    exit when reach = ticket_limit or private.is_broad(scope, ticket_limit);
  end loop;
  return null;
end
$$;
comment on function private.narrow_tickets is 'The tickets of a scope if is_narrow holds, else null.';

-- Which chunks are compared, by conditions on public.chunks c with the parameters of scan_chunks.
-- source: what an exact scan reads; an index scan reads public.chunks c. of_each: conditions to be
-- checked after that, one by one.
create type private.chunk_scan as (
  exact boolean, source text, conditions text, of_each text,
  entry_ids bigint[], -- the only entries that contain what is required, if they are few
  passing bigint[] -- the only tickets that pass, if they are few
);
comment on type private.chunk_scan is 'The chunks that a vector search compares, and whether it compares all of them.';

-- required and excluded are conditions on the words of the ticket or project (excluded_tickets
-- covers its comments' words). If few match, their chunks are compared; else each chunk is checked
-- in order of distance.
create function private.plan_scan(search private.search, wanted integer) returns private.chunk_scan
language plpgsql stable security invoker set search_path = ''
as $$
declare
  scope constant private.scope := search.scope;
  query constant private.query := search.query;
  scan private.chunk_scan := row(false, 'public.chunks c', '', '', null, null);
begin
  -- Literal, to match the predicates of the partial indexes.
  scan.conditions := format('c.embedding_set = %s and c.model = $3', private.searched_set(search.embedding_model));
  if scope.projects is not null then
    scan.conditions := scan.conditions || ' and c.project_id = any (($1).projects)';
  end if;
  if cardinality(query.excluded_tickets) > 0 then
    -- A subquery is hashed; the array would be searched from its start for every chunk.
    scan.conditions := scan.conditions || ' and (c.ticket_id in (select unnest(($6).excluded_tickets))) is not true';
  end if;
  if query.required_of_chunks is not null then
    scan.entry_ids := private.narrow_entries(scope, query.required_of_chunks, private.narrow_limit(wanted), query.excluded);
    scan.exact := scan.entry_ids is not null;
  end if;
  if scan.exact then
    -- A project's own chunks have no ticket.
    scan.source := '(
        select c.* from public.keyword_entries e join public.chunks c on c.ticket_id = e.ticket_id where e.keyword_entry_id = any ($7)
        union all
        select c.* from public.keyword_entries e join public.chunks c on c.project_id = e.project_id and c.ticket_id is null
        where e.keyword_entry_id = any ($7) and e.ticket_id is null) c';
    return scan;
  end if;
  if query.required_of_chunks is not null then
    scan.of_each := ' and private.entry_holds(c.project_id, c.ticket_id, ($6).required_of_chunks, null)';
  end if;
  -- Inline, because a common word is looked for in thousands of chunks.
  if query.excluded is not null then
    scan.of_each := scan.of_each || ' and (case
        when c.ticket_id is not null then (select e.words @@ ($6).excluded from public.keyword_entries e where e.ticket_id = c.ticket_id)
        else (select e.words @@ ($6).excluded from public.keyword_entries e where e.ticket_id is null and e.project_id = c.project_id) end) is false';
  end if;
  if scope.on_tickets then
    scan.passing := private.narrow_tickets(scope, wanted);
    scan.exact := scan.passing is not null;
    if scan.exact then
      -- Not joined: the planner would have to guess how many pass, and a wrong guess reads all
      -- chunks.
      scan.conditions := scan.conditions || ' and c.ticket_id = any ($8)';
    else
      scan.source := 'public.chunks c join public.tickets t on t.ticket_id = c.ticket_id and ' || scope.condition;
      -- A scalar subquery cannot become a join, which would lose the order of the index.
      scan.of_each := format(' and (select %s from public.tickets t where t.ticket_id = c.ticket_id)', scope.condition_of_one) || scan.of_each;
    end if;
  elsif scope.projects is not null then
    scan.exact := private.is_narrow(scope, wanted);
  end if;
  return scan;
end
$$;
comment on function private.plan_scan is 'How the chunks of a search are compared: all of them if its filters leave few, else through the index.';

-- Always the nearest chunk (it shows how close a failed search came), then those strictly over the
-- threshold, until there are chunk_limit chunks, or chunks of source_limit different tickets and
-- projects.
--
-- The HNSW index is scanned iteratively. Relaxed order needs reading more than wanted and sorting
-- here; strict_order would drop late rows, up to all ten true neighbours under a filter. If the
-- index stops early (after hnsw.max_scan_tuples, or because one long ticket or dead rows fill its
-- graph), all chunks are compared.
create function private.scan_chunks(search private.search, chunk_limit integer, source_limit integer)
returns table (chunk_id uuid, project_id bigint, ticket_id bigint, similarity double precision)
-- JIT compilation and parallel workers cost more than any of these queries. Custom plans, whatever
-- the caller has set: a generic plan reads all chunks.
language plpgsql stable rows 300 security invoker
set search_path = '' set jit = off set max_parallel_workers_per_gather = 0 set plan_cache_mode = auto
as $$
declare
  wanted constant integer := least(chunk_limit, source_limit);
  scan private.chunk_scan;
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
  scan := private.plan_scan(search, greatest(200, wanted));
  -- ef_search 100 finds the ten nearest of 50,000 chunks; a larger graph needs more, 224 for
  -- 200,000. Tickets have several chunks. For an exact scan, more cost almost nothing.
  select greatest(100, case when scan.exact then 5 else 1.5 end * wanted, 0.5 * sqrt(greatest(0, c.reltuples)))::integer into reach
    from pg_catalog.pg_class c where c.oid = 'public.chunks'::regclass;

  loop
    if scan.exact then
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
      using search.scope, search.embedding, search.embedding_model, reach, search.match_threshold, search.query, scan.entry_ids, scan.passing;
    perform set_config('enable_sort', saved_sort, true);
    -- An exact scan is in order, so one chunk at or below the threshold ends it; batches overlap.
    -- If the index returned less than requested, it stopped early and may have missed nearer
    -- chunks.
    exit when (scan.exact or chunks >= reach)
      and (chunks >= chunk_limit or sources >= source_limit or below >= case when scan.exact then 1 else 20 end);
    if chunks < reach then
      exit when scan.exact;
      scan.exact := true;
    elsif scan.exact then
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
comment on function private.scan_chunks is
  'The chunks of a search by descending cosine similarity, filtered before ranking: the nearest one, then those over the threshold. Only vectors of its model are compared.';

insert into private.migrations (version) values ('20260101001290');
