-- Vector search: exact similarities, filters applied before ranking, with and without the index.

begin;
select plan(48);

-- This must be the first statement of the connection, while pgvector is not loaded yet.
set local role service_role;
select is_empty(
  $$ select * from public.search_by_vector(('[1' || repeat(',0', 1535) || ']')::extensions.vector, 'm') $$,
  'the first search of a connection works on an empty table');
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
  'tickets and projects are sorted by the similarity of their best chunk, ties by id');
select results_eq(
  $$ select rank, chunk_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7) $$,
  $$ values (1::bigint, '00000000-0000-4000-8000-000012000000'::uuid), (2, '00000000-0000-4000-8000-000011000001'),
    (3, '00000000-0000-4000-8000-000021000000') $$, 'each result has the id of its best chunk');
select results_eq($$ select * from pg_temp.found(0.5) $$, array['1 1 12 0.96', '2 1 11 0.8', '3 2 21 0.8'],
  'a similarity equal to the threshold does not exceed it');
select results_eq($$ select * from pg_temp.found(0.4999999) $$, array['1 1 12 0.96', '2 1 11 0.8', '3 2 21 0.8', '4 1 13 0.5'],
  'a similarity slightly above the threshold is over it');
select is_empty($$ select * from pg_temp.found(0.97) $$, 'no rows are returned if no similarity exceeds the threshold');
select results_eq($$ select * from pg_temp.found(-1, 3) $$, array['1 1 12 0.96', '2 1 11 0.8', '3 2 21 0.8'], 'match_count limits the number of rows');
select results_eq($$ select * from pg_temp.found(-1, 0) $$, array['1 1 12 0.96'], 'a match_count of 0 returns one row');
select results_eq(
  $$ select round(similarity::numeric, 6)::real from public.search_by_vector(pg_temp.unit(0, 1), 'm', -1) $$,
  array[0.8, 0.8, 0.5, 0, 0, -0.96]::real[], 'another query vector gives another order');
select results_eq(
  $$ select ticket_id, similarity from public.search_by_vector(pg_temp.unit(1), 'other', -1) $$, $$ values (21::bigint, 1::double precision) $$,
  'chunks of another model are not compared');
select is_empty($$ select * from public.search_by_vector(pg_temp.unit(1), 'other', 1) $$, 'the nearest chunk is excluded if its similarity equals the threshold');
select is_empty($$ select * from public.search_by_vector(pg_temp.unit(1), 'none', -1) $$, 'a model without chunks returns no rows');
select throws_ok($$ select * from public.search_by_vector('[1,0]', 'm') $$, '22000', null, 'a query vector of another dimension is rejected');

-- Filters -----------------------------------------------------------------------------------------

select results_eq($$ select * from pg_temp.found(-1, project => 1) $$, array['1 1 12 0.96', '2 1 11 0.8', '3 1 13 0.5', '4 1 14 0.28'],
  'the project filter excludes other projects');
select results_eq($$ select * from pg_temp.found(-1, status => 'Done') $$, array['1 1 12 0.96', '2 1 14 0.28'], 'the status filter excludes other statuses');
select results_eq($$ select * from pg_temp.found(-1, status => 'dONE') $$, array['1 1 12 0.96', '2 1 14 0.28'], 'the status filter ignores case');
select results_eq($$ select * from pg_temp.found(-1, project => 2, status => 'to do') $$, array['1 2 21 0.8'], 'project and status filters combine, and the status filter excludes the project''s own text');
select results_eq($$ select * from pg_temp.found(-1, project => 2) $$, array['1 2 21 0.8', '2 2 - -0.6'], 'a project filter includes the project''s own text');
select results_eq($$ select * from pg_temp.found(0.5, project => 1) $$, array['1 1 12 0.96', '2 1 11 0.8'], 'with a filter, a similarity equal to the threshold is excluded too');
select is_empty($$ select * from pg_temp.found(-1, status => 'No such') union all select * from pg_temp.found(-1, project => 404)
  union all select * from pg_temp.found(-1, project => 1, status => 'Rare') $$,
  'unknown projects and statuses, and filters that match no row, return no rows');

-- Retrieval ---------------------------------------------------------------------------------------

select results_eq(
  $$ select chunk_id, ticket_id, project_id, project_name, ticket_key, ticket_name, status, text, tokens, round(similarity::numeric, 6)::real, over_threshold
     from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.7, 2, filters => '{"projects": [1]}') $$,
  $$ values
    ('00000000-0000-4000-8000-000012000000'::uuid, 12::bigint, 1::bigint, 'Apples', 'AA-2', 'twelve', 'Done', 'text 0', 7, 0.96::real, true),
    ('00000000-0000-4000-8000-000011000001', 11, 1, 'Apples', 'AA-1', 'eleven', 'To Do', 'text 1', 7, 0.8, true) $$,
  'retrieval returns the nearest chunks with their ticket, project and status');
select results_eq(
  $$ select round(similarity::numeric, 6)::real from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.5) $$, array[0.96, 0.8, 0.8, 0.6]::real[],
  'retrieval excludes a similarity equal to the threshold');
select results_eq(
  $$ select round(similarity::numeric, 6)::real from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.49) $$, array[0.96, 0.8, 0.8, 0.6, 0.5]::real[],
  'retrieval applies the threshold to each chunk');
select results_eq(
  $$ select ticket_id, round(similarity::numeric, 6)::real, over_threshold from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.97) $$,
  $$ values (12::bigint, 0.96::real, false) $$, 'if no chunk exceeds the threshold, retrieval returns the nearest one with its similarity');
select results_eq(
  $$ select ticket_id, round(similarity::numeric, 6)::real, over_threshold from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.81, filters => '{"projects": [2], "statuses": "To Do"}') $$,
  $$ values (21::bigint, 0.8::real, false) $$, 'the nearest chunk below the threshold must pass the filters');
select results_eq(
  $$ select ticket_id, ticket_key, ticket_name, status, project_name from public.retrieve_chunks(pg_temp.unit(-0.6, 0.8), 'm', 0.99) $$,
  $$ values (null::bigint, null, null, null, 'Bananas') $$, 'a chunk of a project''s own text has null ticket columns');
select is_empty(
  $$ select * from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.1, filters => '{"projects": [404]}') union all select * from public.retrieve_chunks(pg_temp.unit(1), 'none', 0.1) $$,
  'retrieval without any chunk to compare returns no rows');
-- Order: 12 (.96, 0, .28), 11 (.8, .6), 21 (.8, 0, 0, .6), 11 (.6, .8), 13 (.5, .5, .5, .5).
select results_eq(
  $$ select array(select round(s::numeric, 6)::real from unnest(similarities) s) from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.49) $$,
  $$ values
    (array[]::real[]),
    (array[0.768]),
    (array[0.768, 0.64]),
    (array[0.576, 0.96, 0.48]),
    (array[0.62, 0.7, 0.7, 0.7]) $$,
  'each chunk has its similarities to the chunks before it, in the same order');
select is((select count(*)::integer from public.retrieve_chunks(pg_temp.unit(1), 'm', -1, 0)), 1, 'retrieval with a match_count of 0 returns one chunk');

-- Many chunks and tickets -------------------------------------------------------------------------
-- Points on a sphere, ever farther from (1, 0, 0): a ticket of 600 chunks, 600 tickets of one
-- chunk, ten tickets of a rare status and 4,100 of another project. That is too many for an exact
-- scan, so the index is used even with a filter by that project.

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
\ir kit/indexes.sql
select pg_temp.fill('public.chunks_embedding_idx', $$
  select count(pg_temp.add(t.ticket_id, t.project_id, t.position, pg_temp.point(t.number))) from (
    select 3000 as ticket_id, 3 as project_id, i as position, i as number from generate_series(1, 600) i
    union all select 3000 + i, 3, 0, 600 + i from generate_series(1, 600) i
    union all select 3900 + i, 3, 0, 1200 + i from generate_series(1, 10) i
    union all select 4000 + i, 4, 0, 1210 + i from generate_series(1, 4100) i) t $$);
-- How often a statement scans the vector index, and the table or its other indexes.
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
  'a ticket of 600 near chunks does not crowd out other tickets');
select is(
  (select count(*)::integer from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, 3)), 10,
  'with a project filter, a ticket of 600 near chunks does not crowd out other tickets');
select is(
  (select count(*)::integer from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 1000, 3)), 1 + 600 + 10, 'up to match_count tickets are found');
select results_eq(
  $$ select max(h.vector_rank), count(distinct h.ticket_id)
     from generate_series(0, 120, 40) as page(start), public.search_hybrid('qqqq', pg_temp.unit(1), 'm', 0.5, 40, page.start) h $$,
  $$ values (100::bigint, 100::bigint) $$, 'a hybrid search ranks 100 results of the vector search, on every page');

select results_eq(
  $$ select ticket_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, 3, 'rare') $$,
  $$ select 3900 + i::bigint from generate_series(1, 10) i $$, 'ten tickets of a rare status are found although 601 other tickets are nearer');
select results_eq(
  $$ select ticket_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, 4) $$,
  $$ select 4000 + i::bigint from generate_series(1, 10) i $$, 'ten tickets of a large project are found although those of another project are nearer');
select results_eq(
  $$ select ticket_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 9, 4, 'to do') $$,
  $$ select 4000 + i::bigint from generate_series(1, 10) i where i <> 2 $$, 'project and status filters together find the nine of the ten tickets that match both');
select results_eq(
  $$ select ticket_id, over_threshold from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.999, filters => '{"projects": [4]}') $$,
  $$ values (4001::bigint, false) $$, 'within a large project, retrieval returns the nearest chunk if none exceeds the threshold');

set local request.method = 'POST'; -- PostgREST passes no notices on
select results_eq(
  $$ select * from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'', 0.7, 1)') $$,
  $$ values (1::bigint, 0::bigint) $$, 'a search without a filter uses the index once and does not scan the table');
select results_eq(
  $$ select * from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'')') $$,
  $$ values (3::bigint, 0::bigint) $$, 'the index is scanned again with a higher limit if one ticket fills the first 100, then the first 400');
select results_eq(
  $$ select * from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'', 0.7, 10, 4)') $$,
  $$ values (2::bigint, 1::bigint) $$, 'if a filter passes none of the nearest 1,200 chunks, a second scan of the index is wider, and then all that pass are compared');
select results_eq(
  $$ select * from pg_temp.scans_of('select * from public.search_hybrid(''qqqq'', pg_temp.unit(1), ''m'', 0.95, 10, project_filter => 4)') $$,
  $$ values (1::bigint, 0::bigint) $$, 'a scan ends where no more chunks are over the threshold, though none passes the filter');
select results_eq(
  $$ select of_index from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'', 0.7, 10, 3)') $$,
  $$ values (0::bigint) $$, 'a filter that leaves few chunks compares them all, without the index');
select results_eq(
  $$ select of_index from pg_temp.scans_of('select * from public.search_by_vector(pg_temp.unit(1), ''m'', 0.7, 10, 3, ''rare'')') $$,
  $$ values (0::bigint) $$, 'a filter that leaves very few chunks does not use the index');
select is((pg_temp.scans_of($$ select * from public.retrieve_chunks(pg_temp.unit(1), 'm') $$)).of_index, 1::bigint, 'retrieval uses the index too');

set local hnsw.max_scan_tuples = 200;
select results_eq(
  $$ select ticket_id from public.search_by_vector(pg_temp.unit(1), 'm', 0.7, 10, 4) $$,
  $$ select 4000 + i::bigint from generate_series(1, 10) i $$, 'all matches are found even if the index scan reaches hnsw.max_scan_tuples first');
select is(current_setting('enable_sort'), 'on', 'a search leaves the caller''s planner settings unchanged');

-- A generic plan would scan the table even for the rarest status.
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
  'a filter that leaves few chunks does not scan the whole table');
select is(pg_temp.whole_scans_of($$ select * from public.search_hybrid('qqqq', pg_temp.unit(1), 'm', 0.7, 10, status_filter => 'rare') $$), 0::bigint,
  'a hybrid search with a filter that leaves few chunks does not scan the whole table');

select * from finish();
rollback;
