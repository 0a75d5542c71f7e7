-- Texts to embed are read with a hash, and chunks are stored only if the hash still matches. Go
-- tests with a second session cover that locked sources are skipped without waiting.

begin;
select plan(53);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name, description)
values (1, 'AA', 'Apples', 'About orchards'), (2, 'BB', 'Bananas', '');
insert into public.tickets (ticket_id, project_id, status_id, name, description)
values (11, 1, 1, 'Login fails', e'First line\n\nSecond'), (12, 1, 1, 'Export', ''), (13, 1, 1, ' ', null), (21, 2, 1, 'Bend', null);
insert into public.status_changes (status_change_id, ticket_id, note)
values (103, 11, 'third'), (101, 11, 'first'), (102, 11, e' \n\t'), (104, 11, null), (105, 11, '');
set local role service_role;

-- Reading -----------------------------------------------------------------------------------------

create function pg_temp.source(project bigint, ticket bigint default null) returns bigint
language sql as $$ select source_id from public.find_sources(jsonb_build_array(jsonb_build_object('project_id', project, 'ticket_id', ticket))) $$;
select results_eq(
  $$ select place from public.find_sources('[{"project_id": 2, "ticket_id": 11}, {"project_id": 1}, {"project_id": 404, "ticket_id": 11}, {"project_id": 1, "ticket_id": 404},
    {"project_id": 404}, {"ticket_id": 11}, {}, {"project_id": 1, "ticket_id": 11}, {"project_id": 1}]') $$, $$ values (2::bigint), (8), (9) $$,
  'sources that do not exist or belong to another project are not found');
select results_eq(
  $$ select names from public.read_sources(array[pg_temp.source(2, 21), pg_temp.source(1), pg_temp.source(1, 11), pg_temp.source(2)]) $$,
  $$ values ('{Bananas,Bend}'::text[]), ('{Apples}'), ('{Apples,Login fails}'), ('{Bananas}') $$,
  'read_sources returns sources in the order of the arguments');

create function pg_temp.texts(project bigint, ticket bigint default null) returns jsonb
language sql as $$ select texts from public.read_sources(array[pg_temp.source(project, ticket)]) $$;
create function pg_temp.hash(project bigint, ticket bigint default null) returns text
language sql as $$ select source_hash from public.read_sources(array[pg_temp.source(project, ticket)]) $$;

select is(pg_temp.texts(1, 11), jsonb_build_array(
    jsonb_build_object('kind', 'ticket', 'status_change_id', null, 'text', e'Login fails\n\nFirst line\n\nSecond'),
    jsonb_build_object('kind', 'status_note', 'status_change_id', 101, 'text', 'first'),
    jsonb_build_object('kind', 'status_note', 'status_change_id', 103, 'text', 'third')),
  'the texts of a ticket are name, blank line, description, then its non-blank notes in order');
select is(pg_temp.texts(1, 12) #>> '{0,text}', 'Export', 'the text of a ticket with an empty description is its name');
select is(pg_temp.texts(2, 21) #>> '{0,text}', 'Bend', 'the text of a ticket without a description is its name');
select is(pg_temp.texts(1, 13), '[]', 'a ticket with a blank name and no description has no texts');
select is(pg_temp.texts(1), jsonb_build_array(
    jsonb_build_object('kind', 'project', 'status_change_id', null, 'text', e'Apples\n\nAbout orchards')),
  'the text of a project is name, blank line, description, without its tickets');
select is(pg_temp.texts(2) #>> '{0,text}', 'Bananas', 'the text of a project with an empty description is its name');
select is_empty($$ select from public.read_sources('{0,404404,null}') $$, 'sources that do not exist return no rows');
select is_empty($$ select from public.read_sources('{}') $$, 'empty arguments return no rows');

update public.tickets set description = repeat('é', 200001) where ticket_id = 12;
select is(length(pg_temp.texts(1, 12) #>> '{0,text}'), 200000, 'a text is cut after 200,000 characters');
select results_eq($$ select truncated, stored_truncated from public.read_sources(array[pg_temp.source(1, 11), pg_temp.source(1, 12)]) $$,
  $$ values (false, false), (true, false) $$, 'read_sources tells which texts are cut');
update public.tickets set description = repeat('é', 2000000) where ticket_id = 13;
select results_eq(
  $$ select names[2], sources_read from public.read_sources(array[0, pg_temp.source(1, 12), pg_temp.source(1, 13), pg_temp.source(1, 11)]) $$,
  $$ values ('Export', 3), (' ', 3) $$, 'a response with long texts stops early, and sources_read is the number of arguments it covers');
select results_eq(
  $$ select count(*), min(sources_read) from public.read_sources(array_fill(pg_temp.source(1), array[1001])) $$,
  $$ values (1000::bigint, 1000) $$, 'a response covers at most 1,000 sources');
update public.tickets set description = '' where ticket_id in (12, 13);

-- Which writes change the hash of ticket 11.
create temporary table writes (place integer, statement text, counts boolean);
insert into writes values
  (1, $$ update public.tickets set status_id = 2, key = 'AA-99', created_at = '2020-02-02' where ticket_id = 11 $$, false),
  (2, $$ update public.projects set description = 'else' where project_id = 1 $$, false),
  (3, $$ insert into public.status_changes (status_change_id, ticket_id, note) values (106, 11, ' ') $$, false),
  (4, $$ update public.status_changes set note = 'FIRST' where status_change_id = 101 $$, true),
  (5, $$ insert into public.status_changes (status_change_id, ticket_id, note) values (107, 11, 'new') $$, true),
  (6, $$ delete from public.status_changes where status_change_id = 107 $$, true),
  (7, $$ update public.tickets set name = 'LOGIN FAILS' where ticket_id = 11 $$, true),
  (8, $$ update public.tickets set description = null where ticket_id = 11 $$, true),
  (9, $$ update public.projects set name = 'APPLES' where project_id = 1 $$, true);
create function pg_temp.changes_hash(statement text) returns boolean
language plpgsql as $$
declare
  before text := pg_temp.hash(1, 11);
begin
  execute statement;
  return pg_temp.hash(1, 11) <> before;
end
$$;
select is_empty(
  $$ select w.statement from (select * from pg_temp.writes order by place) w where pg_temp.changes_hash(w.statement) <> w.counts $$,
  'the hash changes with names and texts, and with nothing else');
select isnt(pg_temp.hash(1), pg_temp.hash(2), 'different sources have different hashes');

-- Storing -----------------------------------------------------------------------------------------

\ir kit/vectors.sql

-- An element of the argument chunks. A new chunk's vector is at the index of its position.
create function pg_temp.chunk(source bigint, "position" integer, text text, kept uuid default null, note bigint default null, kind text default null)
returns jsonb
language sql as $$
  select jsonb_build_object('source_id', source, 'chunk_id', kept, 'position', "position", 'text', text, 'status_change_id', note,
    'kind', coalesce(kind, case when note is null then 'ticket' else 'status_note' end), 'tokens', length(text),
    'input_hash', 'hash of ' || text, 'model', 'm', 'embedding', "position" + 1)
$$;
create function pg_temp.given(project bigint, ticket bigint, hash text, truncated boolean default false) returns jsonb
language sql as $$ select jsonb_build_object('source_id', coalesce(pg_temp.source(project, ticket), 404404), 'source_hash', hash, 'truncated', truncated) $$;
-- Stores chunks, whose source is this one.
create function pg_temp.store(project bigint, ticket bigint, hash text, variadic chunks jsonb[])
returns table (stored boolean, embedding_ids uuid[])
language sql as $$
  select s.stored, s.embedding_ids
  from pg_temp.given(project, ticket, hash) g
  cross join lateral public.store_chunks(jsonb_build_array(g),
    (select coalesce(jsonb_agg(c || jsonb_build_object('source_id', g -> 'source_id')), '[]') from unnest(chunks) c),
    array[pg_temp.unit(1), pg_temp.unit(0, 1), pg_temp.unit(0, 0, 1)]) s
$$;
create function pg_temp.stored(project bigint, ticket bigint default null) returns setof text
language sql as $$
  select c.text from public.chunks c where c.project_id = project and c.ticket_id is not distinct from ticket order by c.position
$$;
create temporary table remembered (name text primary key, ids uuid[]);

with s as (
  select * from pg_temp.store(1, 11, pg_temp.hash(1, 11), pg_temp.chunk(1, 2, 'c', note => 101), pg_temp.chunk(1, 0, 'a'), pg_temp.chunk(1, 1, 'b'))
), remember as (insert into remembered select 'abc', embedding_ids from s)
select ok(stored, 'chunks are stored if the source has not changed') from s;
select results_eq(
  $$ select project_id, ticket_id, status_change_id, kind, "position", text, tokens, input_hash, model, embedding::text
     from public.chunks order by "position" $$,
  $$ values (1::bigint, 11::bigint, null::bigint, 'ticket', 0::bigint, 'a', 1, 'hash of a', 'm', pg_temp.unit(1)::text),
    (1, 11, null, 'ticket', 1, 'b', 1, 'hash of b', 'm', pg_temp.unit(0, 1)::text),
    (1, 11, 101, 'status_note', 2, 'c', 1, 'hash of c', 'm', pg_temp.unit(0, 0, 1)::text) $$,
  'stored chunks have all their columns');
select is(ids, array(select chunk_id from public.chunks order by position), 'store_chunks returns the ids by position') from remembered;
select is(
  (select chunks from public.read_sources(array[pg_temp.source(1, 11)])),
  (select jsonb_agg(jsonb_build_object('chunk_id', chunk_id, 'input_hash', input_hash, 'model', model, 'status_change_id', status_change_id,
     'position', position) order by position) from public.chunks),
  'read_sources returns the stored chunks of a source');
select is((select chunks from public.read_sources(array[pg_temp.source(1)])), '[]', 'read_sources returns an empty list of chunks for a source without any');

-- b moves to the front and to a note, a is deleted, x is new, c stays last.
with s as (
  select s.* from remembered r, pg_temp.store(1, 11, pg_temp.hash(1, 11),
    pg_temp.chunk(1, 0, '', r.ids[2], 103), pg_temp.chunk(1, 1, 'x'), pg_temp.chunk(1, 2, '', r.ids[3], 101)) s
  where r.name = 'abc'
), remember as (insert into remembered select 'bxc', embedding_ids from s)
select ok(stored, 'one call keeps, moves, adds and removes chunks') from s;
select results_eq(
  $$ select * from pg_temp.stored(1, 11) $$, array['b', 'x', 'c'], 'only the listed chunks remain, in their new order, with unchanged texts');
select ok(new.ids[1] = old.ids[2] and new.ids[3] = old.ids[3] and new.ids[2] <> all (old.ids), 'a kept chunk keeps its id')
from remembered new, remembered old where new.name = 'bxc' and old.name = 'abc';
select results_eq(
  $$ select kind, status_change_id from public.chunks where text = 'b' $$, $$ values ('status_note', 103::bigint) $$,
  'a kept chunk can move from the ticket''s text to a note');

select results_eq(
  $$ select * from pg_temp.store(1, 11, 'another hash', pg_temp.chunk(1, 0, 'stale')) $$,
  $$ values (false, '{}'::uuid[]) $$, 'chunks are refused if the text has changed since');
select results_eq($$ select * from pg_temp.stored(1, 11) $$, array['b', 'x', 'c'], 'a refused call with an outdated hash leaves the stored chunks unchanged');
select results_eq(
  $$ select * from pg_temp.store(1, 11, null, pg_temp.chunk(1, 0, 'stale')) $$,
  $$ values (false, '{}'::uuid[]) $$, 'chunks with a null hash are refused');
select results_eq(
  $$ select s.* from pg_temp.remembered r, pg_temp.store(1, 11, pg_temp.hash(1, 11),
       pg_temp.chunk(1, 0, '', r.ids[1]), pg_temp.chunk(1, 1, '', r.ids[2])) s where r.name = 'abc' $$,
  $$ values (false, '{}'::uuid[]) $$, 'a list that keeps a deleted chunk is refused');
select results_eq($$ select * from pg_temp.stored(1, 11) $$, array['b', 'x', 'c'], 'a refused list that keeps a deleted chunk leaves the stored chunks unchanged');
select results_eq(
  $$ select s.* from pg_temp.remembered r, pg_temp.store(1, 12, pg_temp.hash(1, 12), pg_temp.chunk(1, 0, '', r.ids[1])) s where r.name = 'bxc' $$,
  $$ values (false, '{}'::uuid[]) $$, 'a list that keeps a chunk of another source is refused');
select results_eq(
  $$ select * from pg_temp.store(1, 404, 'any', pg_temp.chunk(1, 0, 'gone'))
     union all select * from pg_temp.store(404, null, 'any', pg_temp.chunk(1, 0, 'gone', kind => 'project'))
     union all select * from pg_temp.store(2, 11, pg_temp.hash(1, 11), pg_temp.chunk(1, 0, 'moved')) $$,
  $$ values (false, '{}'::uuid[]), (false, '{}'), (false, '{}') $$, 'chunks of a source that does not exist or is in another project are refused');

-- Several sources in one call: a project, a ticket with an outdated hash, and a ticket of another
-- project. Two chunks may use the same vector.
select results_eq(
  $$ select s.source_id, s.stored, cardinality(s.embedding_ids)
     from public.store_chunks(jsonb_build_array(pg_temp.given(1, null, pg_temp.hash(1), true), pg_temp.given(1, 12, 'stale', true), pg_temp.given(2, 21, pg_temp.hash(2, 21))),
       jsonb_build_array(pg_temp.chunk(pg_temp.source(2, 21), 0, 'bend'), pg_temp.chunk(pg_temp.source(1, 12), 0, 'export'),
         pg_temp.chunk(pg_temp.source(1), 0, 'apples', kind => 'project'), pg_temp.chunk(pg_temp.source(1), 1, 'orchards', kind => 'project')),
       array[pg_temp.unit(1), pg_temp.unit(0, 1)]) s $$,
  $$ values (pg_temp.source(1), true, 2), (pg_temp.source(1, 12), false, 0), (pg_temp.source(2, 21), true, 1) $$, 'of several sources, only the one with an outdated hash is refused');
select results_eq(
  $$ select * from pg_temp.stored(1) union all select * from pg_temp.stored(1, 12) union all select * from pg_temp.stored(2, 21) $$,
  array['apples', 'orchards', 'bend'], 'the chunks of the other sources in the call are stored');
select results_eq($$ select * from pg_temp.stored(1, 11) $$, array['b', 'x', 'c'], 'a source that is not in the call keeps its chunks');
select is((select chunks from public.read_sources(array[pg_temp.source(1, 12)])), '[]', 'the chunks of a project are not returned with its tickets');

select results_eq($$ select stored_truncated from public.read_sources(array[pg_temp.source(1), pg_temp.source(1, 12), pg_temp.source(2, 21)]) $$,
  $$ values (true), (false), (false) $$, 'a source stored as truncated is marked');
select is((select truncated from public.embedding_status('m')), 1::bigint, 'embedding_status counts truncated sources');
-- A constraint violation makes the whole call fail.
create function pg_temp.two_stored(second_vector extensions.vector, second_chunk jsonb) returns bigint
language sql as $$
  select count(*)
  from public.store_chunks(jsonb_build_array(pg_temp.given(2, null, pg_temp.hash(2)), pg_temp.given(2, 21, pg_temp.hash(2, 21))),
    jsonb_build_array(pg_temp.chunk(pg_temp.source(2), 0, 'bananas', kind => 'project'), second_chunk), array[pg_temp.unit(1), second_vector])
$$;
select throws_ok(
  $$ select pg_temp.two_stored(pg_temp.unit(1, 1), pg_temp.chunk(pg_temp.source(2, 21), 1, 'long')) $$, '23514', null, 'a vector whose length is not 1 is rejected');
select throws_ok(
  $$ select pg_temp.two_stored('[1]', pg_temp.chunk(pg_temp.source(2, 21), 1, 'short')) $$, '22000', null, 'a vector of another dimension is rejected');
select throws_ok(
  $$ select pg_temp.two_stored(null, pg_temp.chunk(pg_temp.source(2, 21), 1, 'missing')) $$, '23502', null, 'a null vector is rejected');
select throws_ok(
  $$ select pg_temp.two_stored(pg_temp.unit(1), pg_temp.chunk(pg_temp.source(2, 21), 1, 'wrong kind', kind => 'project')) $$, '23514', null,
  'a chunk of a ticket with the kind project is rejected');
select throws_ok(
  $$ select pg_temp.two_stored(pg_temp.unit(1), pg_temp.chunk(pg_temp.source(2, 21), 1, 'no note', note => 404)) $$, '23503', null, 'a chunk of a note that does not exist is rejected');
select is_empty($$ select * from pg_temp.stored(2) $$, 'a rejected chunk prevents the whole call from storing anything');
select results_eq($$ select * from pg_temp.stored(2, 21) $$, array['bend'], 'a rejected chunk prevents the whole call from removing anything');

select results_eq(
  $$ select * from pg_temp.store(2, 21, pg_temp.hash(2, 21), variadic '{}') $$, $$ values (true, '{}'::uuid[]) $$, 'a call with an empty list of chunks succeeds');
select is_empty($$ select * from pg_temp.stored(2, 21) $$, 'an empty list removes all chunks of a source');

-- In one call, a source that tries to keep another source's chunk.
select * from pg_temp.store(1, 12, pg_temp.hash(1, 12), pg_temp.chunk(1, 0, 'export'));
with s as (select * from pg_temp.store(2, 21, pg_temp.hash(2, 21), pg_temp.chunk(1, 0, 'bend')))
insert into remembered select 'bend', embedding_ids from s;
select results_eq(
  $$ select s.stored, cardinality(s.embedding_ids)
     from pg_temp.remembered r, public.store_chunks(jsonb_build_array(pg_temp.given(2, 21, pg_temp.hash(2, 21)), pg_temp.given(1, 12, pg_temp.hash(1, 12))),
       jsonb_build_array(pg_temp.chunk(pg_temp.source(2, 21), 0, 'unbend'), pg_temp.chunk(pg_temp.source(1, 12), 0, '', r.ids[1])), array[pg_temp.unit(1)]) s
     where r.name = 'bend' $$,
  $$ values (true, 1), (false, 0) $$, 'a source cannot keep a chunk of another source in the same call');
select results_eq(
  $$ select * from pg_temp.stored(2, 21) union all select * from pg_temp.stored(1, 12) $$,
  array['unbend', 'export'], 'a refused source leaves its own chunks and the other source of the call unchanged');

-- Deletions and moves ----------------------------------------------------------------------------

delete from public.status_changes where status_change_id = 101;
select results_eq($$ select * from pg_temp.stored(1, 11) $$, array['b', 'x'], 'deleting a note deletes its chunks');
update public.tickets set project_id = 2 where ticket_id = 11;
select results_eq($$ select * from pg_temp.stored(2, 11) $$, array['b', 'x'], 'moving a ticket to another project moves its chunks');
delete from public.tickets where ticket_id = 11;
select is_empty($$ select from public.chunks where ticket_id = 11 $$, 'deleting a ticket deletes its chunks');
delete from public.projects where project_id = 1;
select results_eq($$ select text from public.chunks $$, array['unbend'], 'deleting a project deletes its chunks and those of its tickets');

select * from finish();
rollback;
