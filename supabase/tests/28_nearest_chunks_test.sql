-- nearest_chunks, for use by hand: it uses the index and search's set, and shows only what the
-- caller may see.
-- than they may see.

begin;
select plan(16);

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Berries');
select is_empty('select * from public.nearest_chunks(pg_temp.unit(1))', 'nothing is near where nothing is');
alter table public.tickets disable trigger index_inserted_tickets;
insert into public.tickets (ticket_id, key, project_id, status_id, name) select i, 'K-' || i, 1 + (i % 10 = 0)::integer, 1 + i % 2, 'Ticket ' || i from generate_series(1, 600) i;
-- The nearer to unit(1), the lower the number.
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select t.project_id, t.ticket_id, 'ticket', 0, t.name, 1, 'h', 'm', pg_temp.unit(cos(t.ticket_id / 400.0), sin(t.ticket_id / 400.0)) from public.tickets t;
create function pg_temp.found(match_count integer, project_filter bigint default null, status_filter text default null) returns bigint[]
language sql as $$ select array_agg(n.ticket_id) from public.nearest_chunks(pg_temp.unit(1), $1, $2, $3) n $$;

create function pg_temp.scans(index text) returns bigint language sql as $$ select pg_stat_get_xact_numscans(index::regclass) $$;
create temporary table before as select pg_temp.scans('public.chunks_embedding_idx') as scans;
select is(pg_temp.found(10), array(select generate_series(1::bigint, 10)), 'the nearest come first');
select ok(pg_temp.scans('public.chunks_embedding_idx') > (select scans from before), 'by the vector index');
select is(pg_temp.found(5, 2), '{10,20,30,40,50}', 'within a project, before ranking');
select is(pg_temp.found(3, 1, 'done'), '{1,3,5}', 'and within a status');
select is(pg_temp.found(5, 3), null, 'or in none');
select results_eq('select similarity > 0.999, project_id, ticket_key, kind, text from public.nearest_chunks(pg_temp.unit(1), 1)',
  $$ values (true, 1::bigint, 'K-1', 'ticket', 'Ticket 1') $$, 'with what they say');
select is(cardinality(pg_temp.found(0)), 1, 'at least one');
select is(cardinality(pg_temp.found(1000000)), 600, 'at most a thousand, opposites too');

-- The index is partial: a plain statement must name the set.
set local enable_sort = off;
create function pg_temp.explained(statement text) returns setof text language plpgsql as $$ begin return query execute 'explain ' || statement; end $$;
select ok((select string_agg(e, ' ') from pg_temp.explained($$ select chunk_id from public.chunks where embedding_set = 1
    order by embedding operator(extensions.<=>) pg_temp.unit(1) limit 10 $$) e) ~ 'chunks_embedding_idx', 'a statement that names the set is served by the index too');
reset enable_sort;

-- Models and sets ---------------------------------------------------------------------------------

insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding) values (1, null, 'project', 0, 't', 1, 'h', 'other', pg_temp.unit(1));
select is(pg_temp.found(1), '{1}', 'vectors of another model are not compared');
insert into public.chunks (embedding_set, project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select 2, 1, 7, 'ticket', 0, 't', 1, 'h', 'n', pg_temp.unit(1);
select is(pg_temp.found(1), '{1}', 'nor those of the other set');
update private.embedding_sets set serving = 2, model = 'n';
create temporary table before_other as select pg_temp.scans('public.chunks_embedding_2_idx') as scans;
select is(pg_temp.found(10), '{7}', 'until it serves');
select ok(pg_temp.scans('public.chunks_embedding_2_idx') > (select scans from before_other), 'by the index of its own');
update private.embedding_sets set serving = 1, model = null;

-- Callers -----------------------------------------------------------------------------------------

\ir kit/actors.sql
select is(pg_temp.outcomes('select from public.nearest_chunks(pg_temp.unit(1), 1000)'), '- 0 60 540 540 540 600', 'everybody gets what they may see');
select pg_temp.act('outsider');
select is(pg_temp.found(3), '{10,20,30}', 'the nearest of that');
reset role;

select * from finish();
rollback;
