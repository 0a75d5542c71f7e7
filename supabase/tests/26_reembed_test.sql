-- Changing the model while search continues: two sets that are never mixed, a switch once the new
-- one is complete, and edits that reach both. Go tests show that a worker does both; here its calls
-- are made by hand.

begin;
select plan(43);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples');
insert into public.tickets (ticket_id, project_id, status_id, name) values (11, 1, 1, 'eleven'), (12, 1, 1, 'twelve');

\ir kit/vectors.sql
-- Stores the current text of a ticket (or of project 1) as one chunk; true if it was accepted.
create function pg_temp.store(ticket bigint, model text, vector extensions.vector, in_set smallint default null) returns boolean
language sql as $$
  select s.stored
  from public.read_sources('{1}', array[ticket], in_set) r
  cross join lateral public.store_chunks('{1}', array[ticket], array[r.source_hash],
    jsonb_build_array(jsonb_build_object('source', 1, 'kind', r.texts #>> '{0,kind}', 'position', 0, 'text', r.texts #>> '{0,text}',
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
language sql as $$ select coalesce(array_agg(coalesce(j.ticket_id::text, 'project') order by j.ticket_id), '{}') from private.embedding_jobs j $$;
create temporary table versions (version text);
create function pg_temp.moved() returns boolean
language plpgsql as $$
declare
  present text := public.data_version();
  known boolean := exists (select from pg_temp.versions v where v.version = present);
begin
  insert into pg_temp.versions select present where not known;
  return not known;
end
$$;
grant all on pg_temp.versions to service_role;
set local role service_role;

-- Before ------------------------------------------------------------------------------------------

select is(pg_temp.sets(), '1 unused', 'at first one set serves, of whatever model the service has');
select throws_ok($$ select public.finish_reembed() $$, '55000', null, 'nothing is being built that could be finished');
select is(public.abandon_reembed(), false, 'or abandoned');
select is(public.clear_retired_set(), null, 'or emptied');
select ok(pg_temp.store(11, 'old', pg_temp.unit(0.6, 0.8)) and pg_temp.store(12, 'old', pg_temp.unit(0.8, 0.6))
  and pg_temp.store(null, 'old', pg_temp.unit(0, 1)), 'all is embedded by the old model');
select is(pg_temp.waiting(), '{}', 'which ends all jobs');
select ok(not pg_temp.store(11, 'new', pg_temp.unit(1), 2::smallint), 'a set that is not being built accepts nothing');
select results_eq($$ select embedding_set, embedding_model, building_set from public.read_sources('{1}', '{11}', 2::smallint) $$,
  $$ values (null::smallint, null::text, null::smallint) $$, 'and its readers are told');

-- Building ----------------------------------------------------------------------------------------

select is(public.begin_reembed('new', 2), 3::bigint, 'beginning asks for everything');
select is(pg_temp.waiting(), '{11,12,project}', 'in the queue');
select ok((select bool_and(background) from private.embedding_jobs), 'behind fresh edits');
select is(pg_temp.sets(), '1 old building new 2', 'the serving set is known to be the old model''s from now on');
select is(public.begin_reembed('new', 2), 0::bigint, 'beginning again asks for nothing twice');
select throws_ok($$ select public.begin_reembed('third', 2) $$, '55000', null, 'another model has to wait');
select throws_ok($$ select public.begin_reembed('new', 3) $$, '55000', null, 'and so has another chunking');
select results_eq(
  $$ select embedding_set, embedding_model, building_set, building_chunking, jsonb_array_length(chunks) from public.read_sources('{1}', '{11}') $$,
  $$ values (1::smallint, 'old', 2::smallint, 2, 1) $$, 'workers see both sets: the serving one');
select results_eq(
  $$ select embedding_set, embedding_model, jsonb_array_length(chunks) from public.read_sources('{1}', '{11}', 2::smallint) $$,
  $$ values (2::smallint, 'new', 0) $$, 'and of the other');
select ok(not pg_temp.store(11, 'old', pg_temp.unit(1), 2::smallint), 'the new set takes no vector of the old model');
select ok(not pg_temp.store(11, 'new', pg_temp.unit(1)), 'nor the old set one of the new');
-- The new vectors are opposite to the old ones.
select ok(pg_temp.store(11, 'new', pg_temp.unit(-0.6, -0.8), 2::smallint) and pg_temp.store(12, 'new', pg_temp.unit(-0.8, -0.6), 2::smallint)
  and pg_temp.store(null, 'new', pg_temp.unit(0, -1), 2::smallint),
  'each takes its own');
select is(pg_temp.waiting(), '{11,12,project}', 'which ends no job: that is for who has done both');
select is(pg_temp.found('old'), '{12 0.80,11 0.60,"project 0.00"}', 'a search sees the old set alone');
select is(pg_temp.found('new'), '{}', 'and nothing for the new model');
select is((select count(*) from public.retrieve_chunks_hybrid('eleven', pg_temp.unit(1), 'old', -1, source_chunk_limit => 5) where ticket_id = 11), 1::bigint,
  'an answer draws on each chunk once');
select is((select chunks from public.embedding_status('old')), 3::bigint, 'what is searched is counted');

-- Switching ---------------------------------------------------------------------------------------

select ok(pg_temp.moved(), 'there is a version of the data');
select is(public.finish_reembed(), false, 'an open job that was asked for in the beginning keeps the sets as they are');
delete from private.embedding_jobs;
delete from public.chunks where embedding_set = 2 and ticket_id = 12;
select is(public.finish_reembed(), false, 'and so does a ticket that the new set lacks, whatever the queue says');
select is(public.begin_reembed('new', 2), 1::bigint, 'which going on asks for');
update private.embedding_jobs set attempts = 3, dead_at = now();
select ok(pg_temp.store(12, 'new', pg_temp.unit(-0.8, -0.6), 2::smallint), 'it comes');
select is(public.finish_reembed(), false, 'but not while the job of a searched source is dead');
delete from private.embedding_jobs;
-- Edits continue as usual. Their jobs are younger and do not delay the switch.
update public.tickets set name = 'TWELVE' where ticket_id = 12;
select pg_temp.moved();
update private.embedding_jobs set attempts = 1, due_at = clock_timestamp() + interval '1 minute';
select is(public.finish_reembed(), false, 'an edit that failed may have failed by the new model');
update private.embedding_jobs set attempts = 0;
select is(public.finish_reembed(), true, 'a complete set serves');
select ok(pg_temp.moved(), 'which moves the version of the data');
select is(pg_temp.sets(), '2 new 2 retired old', 'the sets have changed places');
select is(pg_temp.found('new', pg_temp.unit(-1)), '{12 0.80,11 0.60,"project 0.00"}', 'a search sees the new set');
select is(pg_temp.found('old'), '{12 0.80,11 0.60,"project 0.00"}', 'one that was embedded before the switch the old one');
select ok(pg_temp.store(12, 'new', pg_temp.unit(-1)) and not pg_temp.store(12, 'old', pg_temp.unit(1), 1::smallint), 'edits go to the new set');
select throws_ok($$ select public.begin_reembed('third', 2) $$, '55000', null, 'the old set must be emptied before another is built');

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
select is(pg_temp.clear(), 4, 'the six chunks of both are looked through by twos');
select is(array[pg_temp.sets(), (select string_agg(distinct model, ' ') from public.chunks), (select count(*)::text from public.chunks)],
  '{2 new 2 unused,new,3}', 'and those of the new set stay');
select is(pg_temp.found('old'), '{}', 'the old model finds nothing any more');

-- Abandoning --------------------------------------------------------------------------------------

select is(array[public.begin_reembed('third', 2)::text, pg_temp.store(11, 'third', pg_temp.unit(1), 1::smallint)::text, public.abandon_reembed()::text,
    pg_temp.store(12, 'third', pg_temp.unit(1), 1::smallint)::text, pg_temp.found('third')::text, (pg_temp.clear() > 1)::text, pg_temp.sets(),
    (select string_agg(distinct model, ' ') from public.chunks)],
  '{3,true,true,false,"{}",true,2 new 2 unused,new}', 'an abandoned set accepts nothing more, is not searched, and is deleted');

select * from finish();
rollback;
