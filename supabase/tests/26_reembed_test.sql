-- Changing the model while search continues: two sets that are never mixed, a switch once the new
-- one is complete, and edits written to both. Go tests run this with a worker; this file calls the
-- worker's functions directly.

begin;
select plan(44);

\ir kit/jobs.sql

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples');
insert into public.tickets (ticket_id, project_id, status_id, name) values (11, 1, 1, 'eleven'), (12, 1, 1, 'twelve');

\ir kit/vectors.sql
-- Stores the current text of a ticket (or of project 1) as one chunk; true if it was accepted.
create function pg_temp.store(ticket bigint, model text, vector extensions.vector, in_set smallint default null) returns boolean
language sql as $$
  select s.stored
  from public.read_sources(array[case when ticket is null then pg_temp.source(project => 1) else pg_temp.source(ticket) end], in_set) r
  cross join lateral public.store_chunks(jsonb_build_array(jsonb_build_object('source_id', r.source_id, 'source_hash', r.source_hash, 'truncated', false)),
    jsonb_build_array(jsonb_build_object('source_id', r.source_id, 'kind', r.texts #>> '{0,kind}', 'position', 0, 'text', r.texts #>> '{0,text}',
      'tokens', 3, 'input_hash', 'h', 'model', model, 'embedding', 1)),
    array[vector], in_set) s
$$;
create function pg_temp.found(model text, vector extensions.vector default pg_temp.unit(1)) returns text[]
language sql as $$
  select coalesce(array_agg(coalesce(v.ticket_id::text, 'project') || ' ' || round(v.similarity::numeric, 2) order by v.rank), '{}')
  from public.search_by_vector(vector, model, -1) v
$$;
create function pg_temp.sets() returns text
language sql as $$ select concat_ws(' ', serving, model, chunking, other_state, other_model, other_chunking) from public.embedding_sets() $$;
create function pg_temp.waiting() returns text[]
language sql as $$ select coalesce(array_agg(coalesce(j.ticket_id::text, 'project') order by j.ticket_id), '{}') from job j $$;
create temporary table versions (version text);
create function pg_temp.moved() returns boolean
language plpgsql as $$
declare
  present text := (public.data_version()).version;
  known boolean := exists (select from pg_temp.versions v where v.version = present);
begin
  insert into pg_temp.versions select present where not known;
  return not known;
end
$$;
grant all on pg_temp.versions to service_role;
set local role service_role;

-- Before ------------------------------------------------------------------------------------------

select is(pg_temp.sets(), '1 unused', 'at first one set serves, without a model');
select throws_ok($$ select public.finish_reembed() $$, '55000', null, 'finish_reembed fails if no set is being built');
select is(public.abandon_reembed(), false, 'abandon_reembed returns false if no set is being built');
select is(public.clear_retired_set(), null, 'clear_retired_set returns null if there is no retired set');
select ok(pg_temp.store(11, 'old', pg_temp.unit(0.6, 0.8)) and pg_temp.store(12, 'old', pg_temp.unit(0.8, 0.6))
  and pg_temp.store(null, 'old', pg_temp.unit(0, 1)), 'all sources are embedded by the old model');
select is(pg_temp.waiting(), '{}', 'storing chunks ends all jobs while one set exists');
select ok(not pg_temp.store(11, 'new', pg_temp.unit(1), 2::smallint), 'a set that is not being built accepts no chunks');
select results_eq($$ select embedding_set, embedding_model, building_set from public.read_sources(array[pg_temp.source(11)], 2::smallint) $$,
  $$ values (null::smallint, null::text, null::smallint) $$, 'read_sources returns no set and model for a set that is not being built');

-- Building ----------------------------------------------------------------------------------------

select is(public.begin_reembed('new', 2), 3::bigint, 'begin_reembed queues all sources');
select is(pg_temp.waiting(), '{11,12,project}', 'the queue contains all sources after begin_reembed');
select ok((select bool_and(background) from job), 'jobs queued by begin_reembed are background jobs');
select is(pg_temp.sets(), '1 old building new 2', 'begin_reembed records the serving set''s model');
select is(public.begin_reembed('new', 2), 0::bigint, 'a repeated begin_reembed queues nothing twice');
select throws_ok($$ select public.begin_reembed('third', 2) $$, '55000', null, 'begin_reembed with another model fails while a set is being built');
select throws_ok($$ select public.begin_reembed('new', 3) $$, '55000', null, 'begin_reembed with another chunking fails while a set is being built');
select results_eq(
  $$ select embedding_set, embedding_model, building_set, building_chunking, jsonb_array_length(chunks) from public.read_sources(array[pg_temp.source(11)]) $$,
  $$ values (1::smallint, 'old', 2::smallint, 2, 1) $$, 'read_sources returns the serving set and the number of the set that is being built');
select results_eq(
  $$ select embedding_set, embedding_model, jsonb_array_length(chunks) from public.read_sources(array[pg_temp.source(11)], 2::smallint) $$,
  $$ values (2::smallint, 'new', 0) $$, 'read_sources returns the set that is being built if asked for it');
select ok(not pg_temp.store(11, 'old', pg_temp.unit(1), 2::smallint), 'the set that is being built rejects vectors of the old model');
select ok(not pg_temp.store(11, 'new', pg_temp.unit(1)), 'the serving set rejects vectors of the new model');
-- The new vectors are opposite to the old ones.
select ok(pg_temp.store(11, 'new', pg_temp.unit(-0.6, -0.8), 2::smallint) and pg_temp.store(12, 'new', pg_temp.unit(-0.8, -0.6), 2::smallint)
  and pg_temp.store(null, 'new', pg_temp.unit(0, -1), 2::smallint),
  'the set that is being built accepts vectors of the new model');
select is(pg_temp.waiting(), '{11,12,project}', 'storing into the set that is being built ends no jobs: their holder ends them after both sets');
select is(pg_temp.found('old'), '{12 0.80,11 0.60,"project 0.00"}', 'a search for the old model reads only the serving set');
select is(pg_temp.found('new'), '{}', 'a search for the new model returns nothing before the switch');
select is((select count(*) from public.retrieve_chunks(pg_temp.unit(1), 'old', -1, question => 'eleven', source_chunk_limit => 5) where ticket_id = 11), 1::bigint,
  'retrieve_chunks returns a chunk once although both sets contain it');
select is((select count(*) from public.retrieve_chunks(pg_temp.unit(1), 'old', -1, question => 'what is the Apples project for?', source_chunk_limit => 5) where ticket_id is null), 1::bigint,
  'retrieve_chunks returns a chunk of a named project once although both sets contain it');
select is((select chunks from public.embedding_status('old')), 3::bigint, 'embedding_status counts only chunks of the serving set');

-- Switching ---------------------------------------------------------------------------------------

select ok(pg_temp.moved(), 'there is a version of the data');
select is(public.finish_reembed(), false, 'finish_reembed does not switch while a job queued by begin_reembed is open');
delete from tasklens.embedding_jobs;
delete from public.chunks where embedding_set = 2 and ticket_id = 12;
select tasklens.count_chunks(array(select source_id from tasklens.sources)) \g /dev/null
select is(public.finish_reembed(), false, 'finish_reembed does not switch while the new set lacks a ticket, even if the queue is empty');
select is(public.begin_reembed('new', 2), 1::bigint, 'a repeated begin_reembed queues the ticket that the new set lacks');
update tasklens.embedding_jobs set attempts = 3, dead_at = now();
select ok(pg_temp.store(12, 'new', pg_temp.unit(-0.8, -0.6), 2::smallint), 'the new set accepts the missing ticket');
select is(public.finish_reembed(), false, 'finish_reembed does not switch while a job of a searched source is dead');
delete from tasklens.embedding_jobs;
-- Edits continue as usual. Their jobs are newer and do not delay the switch.
update public.tickets set name = 'TWELVE' where ticket_id = 12;
-- A transaction changes a version once, and this one already has.
reset role;
delete from tasklens.data_version_changes;
set local role service_role;
select pg_temp.moved();
update tasklens.embedding_jobs set attempts = 1, due_at = clock_timestamp() + interval '1 minute';
select is(public.finish_reembed(), false, 'finish_reembed does not switch while a failed edit waits, since the new model may have failed');
update tasklens.embedding_jobs set attempts = 0;
select is(public.finish_reembed(), true, 'finish_reembed switches to a complete set');
select ok(pg_temp.moved(), 'the switch moves the data version');
select is(pg_temp.sets(), '2 new 2 retired old', 'after the switch the new set serves and the old one is retired');
select is(pg_temp.found('new', pg_temp.unit(-1)), '{12 0.80,11 0.60,"project 0.00"}', 'a search for the new model reads the new set after the switch');
select is(pg_temp.found('old'), '{12 0.80,11 0.60,"project 0.00"}', 'a search for the old model, embedded before the switch, reads the old set');
select ok(pg_temp.store(12, 'new', pg_temp.unit(-1)) and not pg_temp.store(12, 'old', pg_temp.unit(1), 1::smallint), 'edits are stored in the new set only');
select throws_ok($$ select public.begin_reembed('third', 2) $$, '55000', null, 'begin_reembed fails until the retired set is emptied');

-- Emptying ----------------------------------------------------------------------------------------

create function pg_temp.clear() returns integer
language plpgsql as $$
declare
  calls integer := 0;
  last uuid;
begin
  loop
    last := public.clear_retired_set(last, 2);
    calls := calls + 1;
    exit when last is null;
  end loop;
  return calls;
end
$$;
select is(pg_temp.clear(), 4, 'clear_retired_set reads the six chunks of both sets in batches of two');
select is(array[pg_temp.sets(), (select string_agg(distinct model, ' ') from public.chunks), (select count(*)::text from public.chunks)],
  '{2 new 2 unused,new,3}', 'clear_retired_set keeps the chunks of the serving set');
select is(pg_temp.found('old'), '{}', 'a search for the old model returns nothing after its set is emptied');

-- Abandoning --------------------------------------------------------------------------------------

select is(array[public.begin_reembed('third', 2)::text, pg_temp.store(11, 'third', pg_temp.unit(1), 1::smallint)::text, public.abandon_reembed()::text,
    pg_temp.store(12, 'third', pg_temp.unit(1), 1::smallint)::text, pg_temp.found('third')::text, (pg_temp.clear() > 1)::text, pg_temp.sets(),
    (select string_agg(distinct model, ' ') from public.chunks)],
  '{3,true,true,false,"{}",true,2 new 2 unused,new}', 'an abandoned set accepts nothing more, is not searched, and is deleted');

select * from finish();
rollback;
