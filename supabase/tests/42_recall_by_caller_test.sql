-- Search for a user who sees few rows: as complete as if the invisible rows did not
-- exist.

begin;
select plan(8);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) select i, 'P' || i, 'Project' from generate_series(1, 400) i;
-- Three projects are visible, each with 30 tickets. The query is about the topic of the others.
insert into public.tickets (ticket_id, project_id, status_id, name, description)
select i, case when i % 50 < 3 then 1 + i % 50 else 4 + i % 397 end, 1 + i % 2, 'Pump ' || i, case when i % 50 > 2 then 'The pump leaks and the pump hums' end from generate_series(1, 1500) i;
\ir kit/actors.sql
insert into public.project_members (project_id, user_id) select p, a.user_id from actors a, generate_series(2, 3) p where a.name = 'viewer';

create function pg_temp.point(ticket bigint, project bigint) returns extensions.vector
language sql as $$
  select extensions.l2_normalize((array[case when project > 3 then 2 else 0.5 end]
    || array_agg(hashint8extended(ticket, i) / 9223372036854775808.0 / 4 order by i) || array_fill(0::double precision, array[1536 - 17]))::extensions.vector)
  from generate_series(1, 16) i
$$;
\ir kit/indexes.sql
select pg_temp.fill('public.chunks_embedding_idx', $$
  insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  select t.project_id, t.ticket_id, 'ticket', 0, t.name, 1, 'h', 'm', pg_temp.point(t.ticket_id, t.project_id) from public.tickets t $$);
analyze public.chunks;
analyze public.tickets;
analyze public.keyword_entries;

create temporary table query as select pg_temp.point(0, 50) as embedding;
create temporary table truth as
select t.ticket_id, t.project_id, row_number() over (order by c.embedding operator(extensions.<=>) (select q.embedding from query q), t.ticket_id) as place
from public.chunks c join public.tickets t using (ticket_id) where t.project_id <= 3;
grant select on query, truth to authenticated, service_role;
-- How many are returned, and how many of these are among the nearest.
create function pg_temp.found() returns table (way text, tickets bigint, nearest bigint)
language sql as $$
  select f.way, count(*), count(*) filter (where exists (select from truth t where t.ticket_id = f.ticket_id and t.place <= f.k))
  from (
    select 'the ten nearest' as way, 10 as k, v.ticket_id from query q, public.search_by_vector(q.embedding, 'm', -1, 10) v
    union all
    select 'all there are', 90, v.ticket_id from query q, public.search_by_vector(q.embedding, 'm', -1, 300) v
    union all
    select 'similar tickets', 20, v.ticket_id from query q, public.similar_tickets(q.embedding, 'm', 20) v
    union all
    select 'chunks for an answer', 20, v.ticket_id from query q, public.retrieve_chunks(q.embedding, 'm', -1, 20) v
  ) f
  group by f.way
$$;

select pg_temp.act('viewer');
select bag_eq('select * from pg_temp.found()',
  $$ values ('the ten nearest', 10::bigint, 10::bigint), ('all there are', 90, 90), ('similar tickets', 20, 20), ('chunks for an answer', 20, 20) $$,
  'vector searches return the nearest of the visible tickets');
select is((select count(*) from public.search_by_keyword('pump hums', 1000)), 90::bigint, 'keyword search returns all visible tickets that contain the words');
select is((select count(*) from query q, public.search_hybrid('pump leaks', q.embedding, 'm', -1, 101)), 90::bigint, 'hybrid search returns all visible tickets');
select is((select count(*) from query q, public.retrieve_chunks(q.embedding, 'm', -1, 40, corpus => 'all')), 40::bigint, 'retrieve_chunks of all returns the requested 40 chunks');
select results_eq($$ select facet, value, count, capped from query q, public.search_facets('pump leaks', q.embedding, 'm', -1) where facet in ('status', 'project') order by facet, value $$,
  $$ values ('project', 1::bigint, 30::bigint, false), ('project', 2, 30, false), ('project', 3, 30, false), ('status', 1, 60, false), ('status', 2, 30, false) $$,
  'facets count every visible match');

-- The results of a member of one project equal those of the service with that project filter.
create function pg_temp.hybrid(filter bigint) returns setof text
language sql as $$ select to_jsonb(h)::text from query q, public.search_hybrid('pump hums', q.embedding, 'm', -1, 101, project_filter => filter) h $$;
select pg_temp.act('service');
create temporary table of_service as select * from pg_temp.hybrid(1);
select pg_temp.act('member');
create temporary table of_member as select * from pg_temp.hybrid(null);
reset role;
select results_eq('table of_member', 'table of_service', 'a user''s results equal the service''s results with a filter for the user''s project');

-- So few chunks would be compared exactly: force use of the index.
create or replace function tasklens.few_entries(scope tasklens.scope, required tsquery) returns bigint[]
language sql stable as $$ select null::bigint[] $$;
select pg_temp.act('viewer');
select bag_eq('select way, tickets from pg_temp.found()',
  $$ values ('the ten nearest', 10::bigint), ('all there are', 90), ('similar tickets', 20), ('chunks for an answer', 20) $$,
  'vector searches by index return as many visible tickets');
select cmp_ok((select min(f.nearest / f.tickets::numeric) from pg_temp.found() f), '>=', 0.9, 'vector searches by index have a recall of at least 0.9 for visible tickets');
reset role;

select * from finish();
rollback;
