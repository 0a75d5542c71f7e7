-- Vector search: exact similarities, filters before ranking, with and without the index.

begin;
select plan(47);

-- The first statement of this connection, as for callers: pgvector is not loaded yet.
set local role service_role;
select is_empty(
  $$ select * from public.search_by_vector(('[1' || repeat(',0', 1535) || ']')::extensions.vector, 'm') $$,
  'a new connection can search an empty table');
reset role;

\ir kit/vectors.sql

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done'), (3, 'Rare');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas'), (3, 'CC', 'Crowd'), (4, 'DD', 'Depot');
insert into public.tickets (ticket_id, project_id, status_id, name)
values (11, 1, 1, 'eleven'), (12, 1, 2, 'twelve'), (13, 1, 1, 'thirteen'), (14, 1, 2, 'fourteen'), (21, 2, 1, 'twenty-one');

create function pg_temp.add(ticket bigint, project bigint, "position" integer, vector extensions.vector, model text default 'm') returns void
language sql as $$
  insert into public.chunks (chunk_id, project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  values (format('00000000-0000-4000-8000-%s%s', lpad((coalesce(ticket, project))::text, 6, '0'), lpad("position"::text, 6, '0'))::uuid,
    project, ticket, case when ticket is null then 'project' else 'ticket' end, "position", 'text ' || "position", 7, 'h', model, vector)
$$;
-- Similarities to (1, 0, 0, …) by hand: every vector has length 1, so its first number is the
-- cosine.
select pg_temp.add(11, 1, 0, pg_temp.unit(0.6, 0.8)), pg_temp.add(11, 1, 1, pg_temp.unit(0.8, 0.6)), -- 0.8 is its best
  pg_temp.add(12, 1, 0, pg_temp.unit(0.96, 0, 0.28)), -- 0.96
  pg_temp.add(13, 1, 0, pg_temp.unit(0.5, 0.5, 0.5, 0.5)), -- 0.5, exact in floating point
  pg_temp.add(14, 1, 0, pg_temp.unit(0.28, -0.96)), -- 0.28
  pg_temp.add(21, 2, 0, pg_temp.unit(0.8, 0, 0, 0.6)), -- 0.8, as 11
  pg_temp.add(null, 2, 0, pg_temp.unit(-0.6, 0.8)), -- -0.6
  pg_temp.add(21, 2, 1, pg_temp.unit(1), 'other'); -- 1, but of another model
set local role service_role;

-- Order and threshold -----------------------------------------------------------------------------

-- Rows as 'rank project ticket similarity'.
create function pg_temp.found(threshold double precision, count integer default 10, project bigint default null, status text default null)
returns setof text
language sql as $$
  select concat_ws(' ', v.rank, v.project_id, coalesce(v.ticket_id::text, '-'), round(v.similarity::numeric, 6)::real)
  from public.search_by_vector(pg_temp.unit(1), 'm', threshold, count, project, status) v
$$;
select results_eq(
  $$ select * from pg_temp.found(-1) $$,
  array['1 1 12 0.96', '2 1 11 0.8', '3 2 21 0.8', '4 1 13 0.5', '5 1 14 0.28', '6 2 - -0.6'],
  'tickets and projects are ordered by the similarity of their best chunk, ties by id');
select results_eq(
  $$ select rank, chunk_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7) $$,
  $$ values (1::bigint, '00000000-0000-4000-8000-000012000000'::uuid), (2, '00000000-0000-4000-8000-000011000001'),
    (3, '00000000-0000-4000-8000-000021000000') $$, 'each has its best chunk');
select results_eq($$ select * from pg_temp.found(0.5) $$, array['1 1 12 0.96', '2 1 11 0.8', '3 2 21 0.8'],
  'a similarity equal to the threshold does not exceed it');
select results_eq($$ select * from pg_temp.found(0.4999999) $$, array['1 1 12 0.96', '2 1 11 0.8', '3 2 21 0.8', '4 1 13 0.5'],
  'a similarity just above the threshold is found');
select is_empty($$ select * from pg_temp.found(0.97) $$, 'nothing above the threshold: no rows');
select results_eq($$ select * from pg_temp.found(-1, 3) $$, array['1 1 12 0.96', '2 1 11 0.8', '3 2 21 0.8'], 'at most match_count rows');
select results_eq($$ select * from pg_temp.found(-1, 0) $$, array['1 1 12 0.96'], 'at least one row for a match_count of 0');
select results_eq(
  $$ select round(similarity::numeric, 6)::real from public.search_by_vector(pg_temp.unit(0, 1), 'm', -1) $$,
  array[0.8, 0.8, 0.5, 0, 0, -0.96]::real[], 'another vector gives another order');
select results_eq(
  $$ select ticket_id, similarity from public.search_by_vector(pg_temp.unit(1), 'other', -1) $$, $$ values (21::bigint, 1::double precision) $$,
  'chunks of another model are not compared');
select is_empty($$ select * from public.search_by_vector(pg_temp.unit(1), 'other', 1) $$, 'the nearest chunk may not equal the threshold');
select is_empty($$ select * from public.search_by_vector(pg_temp.unit(1), 'none', -1) $$, 'a model without chunks finds nothing');
select throws_ok($$ select * from public.search_by_vector('[1,0]', 'm') $$, '22000', null, 'a vector of another dimension is refused');

-- Filters -----------------------------------------------------------------------------------------

select results_eq($$ select * from pg_temp.found(-1, project => 1) $$, array['1 1 12 0.96', '2 1 11 0.8', '3 1 13 0.5', '4 1 14 0.28'],
  'a filter by project');
select results_eq($$ select * from pg_temp.found(-1, status => 'Done') $$, array['1 1 12 0.96', '2 1 14 0.28'], 'a filter by status');
select results_eq($$ select * from pg_temp.found(-1, status => 'dONE') $$, array['1 1 12 0.96', '2 1 14 0.28'], 'a filter by status ignores case');
select results_eq($$ select * from pg_temp.found(-1, project => 2, status => 'to do') $$, array['1 2 21 0.8'], 'a filter by both leaves out the project''s own text');
select results_eq($$ select * from pg_temp.found(-1, project => 2) $$, array['1 2 21 0.8', '2 2 - -0.6'], 'a filter by status leaves out projects');
select results_eq($$ select * from pg_temp.found(0.5, project => 1) $$, array['1 1 12 0.96', '2 1 11 0.8'], 'the threshold is as strict within a filter');
select is_empty($$ select * from pg_temp.found(-1, status => 'No such') union all select * from pg_temp.found(-1, project => 404)
  union all select * from pg_temp.found(-1, project => 1, status => 'Rare') $$,
  'filters without matches, and unknown ids, find nothing');

-- Retrieval ---------------------------------------------------------------------------------------

select results_eq(
  $$ select chunk_id, ticket_id, project_id, project_name, ticket_key, ticket_name, status, text, tokens, round(similarity::numeric, 6)::real, over_threshold
     from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.7, 2, 1) $$,
  $$ values
    ('00000000-0000-4000-8000-000012000000'::uuid, 12::bigint, 1::bigint, 'Apples', 'AA-2', 'twelve', 'Done', 'text 0', 7, 0.96::real, true),
    ('00000000-0000-4000-8000-000011000001', 11, 1, 'Apples', 'AA-1', 'eleven', 'To Do', 'text 1', 7, 0.8, true) $$,
  'the nearest chunks have all columns that an answer shows');
select results_eq(
  $$ select round(similarity::numeric, 6)::real from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.5) $$, array[0.96, 0.8, 0.8, 0.6]::real[],
  'retrieval applies the threshold strictly');
select results_eq(
  $$ select round(similarity::numeric, 6)::real from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.49) $$, array[0.96, 0.8, 0.8, 0.6, 0.5]::real[],
  'retrieval returns each chunk separately');
select results_eq(
  $$ select ticket_id, round(similarity::numeric, 6)::real, over_threshold from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.97) $$,
  $$ values (12::bigint, 0.96::real, false) $$, 'if no chunk exceeds the threshold, the nearest similarity is reported');
select results_eq(
  $$ select ticket_id, round(similarity::numeric, 6)::real, over_threshold from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.81, 20, 2, 'To Do') $$,
  $$ values (21::bigint, 0.8::real, false) $$, 'the nearest similarity respects the filters');
select results_eq(
  $$ select ticket_id, ticket_key, ticket_name, status, project_name from public.retrieve_chunks(pg_temp.unit(-0.6, 0.8), 'm', 0.99) $$,
  $$ values (null::bigint, null, null, null, 'Bananas') $$, 'a project''s own text has no ticket');
select is_empty(
  $$ select * from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.1, 20, 404) union all select * from public.retrieve_chunks(pg_temp.unit(1), 'none', 0.1) $$,
  'without any chunk there is no row');
-- In the order 12 (.96, 0, .28), 11 (.8, .6), 21 (.8, 0, 0, .6), 11 (.6, .8), 13 (.5, .5, .5, .5).
select results_eq(
  $$ select array(select round(s::numeric, 6)::real from unnest(similarities) s) from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.49) $$,
  $$ values
    (array[]::real[]),
    (array[0.768]),
    (array[0.768, 0.64]),
    (array[0.576, 0.96, 0.48]),
    (array[0.62, 0.7, 0.7, 0.7]) $$,
  'chunks have their similarities to earlier ones, in order');
select is((select count(*)::integer from public.retrieve_chunks(pg_temp.unit(1), 'm', -1, 0)), 1, 'retrieval returns at least one row for a match_count of 0');

-- Crowds ------------------------------------------------------------------------------------------
-- Points spread evenly over a part of a sphere, with increasing distance from (1, 0, 0): a ticket
-- of 600 chunks, 600 tickets of one chunk, ten tickets of a rare status, ten of another project,
-- and 4,090 more tickets of that project: too many for an exact scan, so that the index is used
-- even within it.

reset role;
create function pg_temp.point(number integer) returns extensions.vector
language sql as $$
  select pg_temp.unit(z, sqrt(1 - z * z) * cos(2.399963 * number), sqrt(1 - z * z) * sin(2.399963 * number))
  from (values (1 - number / 6000.0::double precision)) as height(z)
$$;
insert into public.tickets (ticket_id, project_id, status_id, name)
select 3000 + i, 3, 1, 'crowd' from generate_series(0, 600) i
union all select 3900 + i, 3, 3, 'rare' from generate_series(1, 10) i
union all select 4000 + i, 4, case i when 2 then 2 else 1 end, 'depot' from generate_series(1, 4100) i;
do $$
declare
  index_definition text := pg_get_indexdef('public.chunks_embedding_idx'::regclass);
begin
  -- Rebuilt at the end, which takes a fifth of the time of growing it.
  drop index public.chunks_embedding_idx;
  perform pg_temp.add(3000, 3, i, pg_temp.point(i)) from generate_series(1, 600) i;
  perform pg_temp.add(3000 + i, 3, 0, pg_temp.point(600 + i)) from generate_series(1, 600) i;
  perform pg_temp.add(3900 + i, 3, 0, pg_temp.point(1200 + i)) from generate_series(1, 10) i;
  perform pg_temp.add(4000 + i, 4, 0, pg_temp.point(1210 + i)) from generate_series(1, 10) i;
  perform pg_temp.add(4010 + i, 4, 0, pg_temp.point(1220 + i)) from generate_series(1, 4090) i;
  execute index_definition;
end
$$;
-- How often a statement scans the index, and the table in any other way.
create function pg_temp.scans_of(statement text, out of_index bigint, out others bigint)
language plpgsql as $$
declare
  before bigint[] := pg_temp.scans();
begin
  execute statement;
  of_index := (pg_temp.scans()) [1] - before [1];
  others := (pg_temp.scans()) [2] - before [2];
end
$$;
create function pg_temp.scans() returns bigint[]
language sql as $$
  select array[pg_stat_get_xact_numscans('public.chunks_embedding_idx'::regclass), pg_stat_get_xact_numscans('public.chunks'::regclass) + (
    select sum(pg_stat_get_xact_numscans(i.indexrelid)) from pg_catalog.pg_index i
    where i.indrelid = 'public.chunks'::regclass and i.indexrelid <> 'public.chunks_embedding_idx'::regclass)]
$$;
set local role service_role;

select is(
  (select count(*)::integer from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10)), 10,
  'a ticket of 600 near chunks does not crowd out others');
select is(
  (select count(*)::integer from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, 3)), 10,
  'nor does it within a filter');
select is(
  (select count(*)::integer from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 1000, 3)), 1 + 600 + 10, 'match_count rows are found');
select results_eq(
  $$ select max(h.vector_rank), count(distinct h.ticket_id)
     from generate_series(0, 120, 40) as page(start), public.search_hybrid('qqqq', pg_temp.unit(1), 'm', 0.5, 40, page.start) h $$,
  $$ values (100::bigint, 100::bigint) $$, 'a hybrid search reads 100 of them for any page');

select results_eq(
  $$ select ticket_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, 3, 'rare') $$,
  $$ select 3900 + i::bigint from generate_series(1, 10) i $$, 'ten tickets of a rare status are found behind a crowd');
select results_eq(
  $$ select ticket_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, 4) $$,
  $$ select 4000 + i::bigint from generate_series(1, 10) i $$, 'ten tickets of a large project are found behind another project''s crowd');
select results_eq(
  $$ select ticket_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 9, 4, 'to do') $$,
  $$ select 4000 + i::bigint from generate_series(1, 10) i where i <> 2 $$, 'with a status too, without the ticket that lacks it');
select results_eq(
  $$ select ticket_id, over_threshold from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.999, 20, 4) $$,
  $$ values (4001::bigint, false) $$, 'the nearest similarity below the threshold is found there too');

select results_eq(
  $$ select * from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'', 0.7, 1)') $$,
  $$ values (1::bigint, 0::bigint) $$, 'without a filter the index is used');
select results_eq(
  $$ select * from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'')') $$,
  $$ values (3::bigint, 0::bigint) $$, 'the index is read on when one ticket has filled the first 100 and the first 400 places');
select results_eq(
  $$ select * from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'', 0.7, 10, 4)') $$,
  $$ values (1::bigint, 0::bigint) $$, 'under a filter that leaves many chunks, only the index is read');
select results_eq(
  $$ select of_index from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'', 0.7, 10, 3)') $$,
  $$ values (0::bigint) $$, 'under a filter that leaves few chunks, all of them are compared');
select results_eq(
  $$ select of_index from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'', 0.7, 10, 3, ''rare'')') $$,
  $$ values (0::bigint) $$, 'under a filter that leaves very few chunks, all are compared');
select is((pg_temp.scans_of($$ select * from public.retrieve_chunks(pg_temp.unit(1), 'm') $$)).of_index, 1::bigint, 'retrieval reads the same way');

set local hnsw.max_scan_tuples = 200;
select results_eq(
  $$ select ticket_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, 4) $$,
  $$ select 4000 + i::bigint from generate_series(1, 10) i $$, 'chunks that the index does not reach are still found');
select is(current_setting('enable_sort'), 'on', 'the caller''s planner settings are unchanged');

-- A generic plan would read the table even for the rarest filter.
reset role;
analyze public.tickets, public.chunks;
set local role service_role;
create function pg_temp.whole_scans_of(statement text) returns bigint
language plpgsql as $$
declare
  before bigint := pg_stat_get_xact_numscans('public.chunks'::regclass);
begin
  execute statement;
  return pg_stat_get_xact_numscans('public.chunks'::regclass) - before;
end
$$;
select is(pg_temp.whole_scans_of($$ select * from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, status_filter => 'rare') $$), 0::bigint,
  'a filter that leaves few chunks does not cause a scan of the table');
select is(pg_temp.whole_scans_of($$ select * from public.search_hybrid('qqqq', pg_temp.unit(1), 'm', 0.7, 10, status_filter => 'rare') $$), 0::bigint,
  'nor in a hybrid search, which uses a generic plan');

select * from finish();
rollback;
