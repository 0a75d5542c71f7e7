-- The vector index finds what an exact scan finds, under a filter that excludes the query's own
-- neighbourhood.

begin;
select plan(6);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Near'), (2, 'BB', 'Far');
insert into public.tickets (ticket_id, project_id, status_id, name) select i, 1 + (i % 4 = 0)::integer, 1, 'ticket' from generate_series(1, 3000) i;

-- Overlapping clusters: a ticket's vector is between the centre of its cluster and a random vector.
-- Project 2 has none in clusters 0 and 1.
create function pg_temp.chance(seed bigint, place integer) returns double precision
language sql immutable as $$ select hashint8extended(seed, place) / 9223372036854775808.0 $$;
create function pg_temp.point(cluster bigint, seed bigint, spread double precision) returns extensions.vector
language sql as $$
  select extensions.l2_normalize((array_agg(pg_temp.chance(cluster, i) + spread * pg_temp.chance(1000 + seed, i) order by i)
    || array_fill(0::double precision, array[1536 - 48]))::extensions.vector)
  from generate_series(1, 48) i
$$;
\ir kit/indexes.sql
select pg_temp.fill('public.chunks_embedding_idx', $$
  insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  select t.project_id, t.ticket_id, 'ticket', 0, 'text', 1, 'h', 'm',
    pg_temp.point(case when t.project_id = 1 then t.ticket_id % 2 else 2 + t.ticket_id % 7 end, t.ticket_id, 1)
  from public.tickets t $$);
analyze public.chunks;
analyze public.tickets;

-- This few chunks would be compared exactly. The replaced function forces the use of the index.
create or replace function tasklens.few_entries(scope tasklens.scope, required tsquery) returns bigint[]
language sql stable as $$ select null::bigint[] $$;

create function pg_temp.recall(query bigint) returns numeric
language sql as $$
  select count(*) / 10.0 from (
    select c.ticket_id from public.chunks c where c.project_id = 2
    order by (c.embedding operator(extensions.<=>) pg_temp.point(query % 2, -query, 0.6)) + 0, c.ticket_id limit 10) truth
  join public.search_by_vector(pg_temp.point(query % 2, -query, 0.6), 'm', -1, 10, 2) found using (ticket_id)
$$;

select is((select count(*)::integer from generate_series(1, 40) q cross join lateral public.search_by_vector(pg_temp.point(q % 2, -q, 0.6), 'm', -1, 10, 2)), 400,
  'each query returns match_count results');
select cmp_ok((select avg(pg_temp.recall(q)) from generate_series(1, 40) q), '>=', 0.99, 'average recall of the ten nearest is at least 0.99');
select cmp_ok((select min(pg_temp.recall(q)) from generate_series(1, 40) q), '>=', 0.7, 'the lowest recall of a query is at least 0.7');

-- Beyond this the index returns what it has met.
set local hnsw.max_scan_tuples = 300;
select cmp_ok((select avg(pg_temp.recall(q)) from generate_series(1, 40) q), '>=', 0.99, 'a setting of the session does not lower the recall');

-- Over the similarity of the fifth of the project, between those of the others.
select is(
  (select count(*)::integer from generate_series(1, 40) q
    cross join lateral (
      select array_agg(n.ticket_id order by n.distance) as nearest, (array_agg(n.distance order by n.distance))[5] as fifth from (
        select c.ticket_id, (c.embedding operator(extensions.<=>) pg_temp.point(q % 2, -q, 0.6)) + 0 as distance from public.chunks c where c.project_id = 2) n) truth
    where array(select f.ticket_id from public.search_by_vector(pg_temp.point(q % 2, -q, 0.6), 'm', 1 - truth.fifth, 10, 2) f order by f.rank) = truth.nearest[:4]),
  40, 'with a threshold, those over it are found');
select is(
  (select count(*)::integer from generate_series(1, 40) q
    cross join lateral (
      select c.ticket_id from public.chunks c where c.project_id = 2 order by (c.embedding operator(extensions.<=>) pg_temp.point(q % 2, -q, 0.6)) + 0 limit 1) nearest
    where array(select r.ticket_id from public.retrieve_chunks(pg_temp.point(q % 2, -q, 0.6), 'm', 0.99, 10, filters => '{"projects": [2]}') r) = array[nearest.ticket_id]),
  40, 'the nearest is found if none is over the threshold');

select * from finish();
rollback;
