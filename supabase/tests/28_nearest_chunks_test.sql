-- nearest_chunks, for use in the SQL editor: it uses the vector index, reads the serving set, and
-- returns only what the caller may read.

begin;
select plan(16);

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Berries');
select is_empty('select * from public.nearest_chunks(pg_temp.unit(1))', 'an empty database has no nearest chunks');
insert into public.tickets (ticket_id, key, project_id, status_id, name) select i, 'K-' || i, 1 + (i % 10 = 0)::integer, 1 + i % 2, 'Ticket ' || i from generate_series(1, 600) i;
-- The lower a ticket's number, the nearer to unit(1).
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select t.project_id, t.ticket_id, 'ticket', 0, t.name, 1, 'h', 'm', pg_temp.unit(cos(t.ticket_id / 400.0), sin(t.ticket_id / 400.0)) from public.tickets t;
create function pg_temp.found(match_count integer, filters jsonb default null) returns bigint[]
language sql as $$ select array_agg(n.ticket_id) from public.nearest_chunks(pg_temp.unit(1), $1, $2) n $$;

create function pg_temp.scans(index text) returns bigint language sql as $$ select pg_stat_get_xact_numscans(index::regclass) $$;
create temporary table before as select pg_temp.scans('public.chunks_embedding_idx') as scans;
select is(pg_temp.found(10), array(select generate_series(1::bigint, 10)), 'the nearest chunks come first');
select ok(pg_temp.scans('public.chunks_embedding_idx') > (select scans from before), 'nearest_chunks uses the vector index');
select is(pg_temp.found(5, '{"projects": [2]}'), '{10,20,30,40,50}', 'a project filter applies before ranking');
select is(pg_temp.found(3, '{"projects": [1], "statuses": "done"}'), '{1,3,5}', 'a status filter applies, ignoring case');
select is(pg_temp.found(5, '{"projects": [3]}'), null, 'an unknown project has no chunks');
select results_eq('select similarity > 0.999, project_id, ticket_key, kind, text from public.nearest_chunks(pg_temp.unit(1), 1)',
  $$ values (true, 1::bigint, 'K-1', 'ticket', 'Ticket 1') $$, 'a result contains similarity, project, ticket key, kind and text');
select is(cardinality(pg_temp.found(0)), 1, 'a match_count of 0 returns one chunk');
select is(cardinality(pg_temp.found(1000000)), 600, 'a large match_count returns all chunks, those with negative similarity too');

-- The index is partial: a plain statement must name the set.
set local enable_sort = off;
create function pg_temp.explained(statement text) returns setof text language plpgsql as $$ begin return query execute 'explain ' || statement; end $$;
select ok((select string_agg(e, ' ') from pg_temp.explained($$ select chunk_id from public.chunks where embedding_set = 1
    order by embedding operator(extensions.<=>) pg_temp.unit(1) limit 10 $$) e) ~ 'chunks_embedding_idx', 'a plain statement that names the set uses the vector index');
reset enable_sort;

-- Models and sets ---------------------------------------------------------------------------------

insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding) values (1, null, 'project', 0, 't', 1, 'h', 'other', pg_temp.unit(1));
select is(pg_temp.found(1), '{1}', 'vectors of another model are excluded');
insert into public.chunks (embedding_set, project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select 2, 1, 7, 'ticket', 0, 't', 1, 'h', 'n', pg_temp.unit(1);
select is(pg_temp.found(1), '{1}', 'vectors of the other set are excluded');
update tasklens.embedding_sets set serving = 2, model = 'n';
create temporary table before_other as select pg_temp.scans('public.chunks_embedding_2_idx') as scans;
select is(pg_temp.found(10), '{7}', 'after a switch the new serving set is searched');
select ok(pg_temp.scans('public.chunks_embedding_2_idx') > (select scans from before_other), 'the new serving set is searched by its own index');
update tasklens.embedding_sets set serving = 1, model = null;

-- Callers -----------------------------------------------------------------------------------------

\ir kit/actors.sql
select is(pg_temp.outcomes('select from public.nearest_chunks(pg_temp.unit(1), 1000)'), '- 0 60 540 540 540 600', 'each role gets the chunks that it may read');
select pg_temp.act('outsider');
select is(pg_temp.found(3), '{10,20,30}', 'an outsider gets the nearest of its readable chunks');
reset role;

select * from finish();
rollback;
