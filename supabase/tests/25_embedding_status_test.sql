-- The status counts match the data after any change.

begin;
select plan(43);

\ir kit/jobs.sql

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do');

-- Compares the status with an exhaustive count, for the serving model, another one and null.
create function pg_temp.reported(model text) returns bigint[]
language sql as $$ select array[s.chunks, s.sources_without_chunks] from public.embedding_status(model) s $$;
-- pending, running, failed, dead, and whether a job waits: as the status reports them, and
-- counted over all jobs.
create function pg_temp.queue() returns text
language sql as $$ select concat_ws(' ', s.pending, s.running, s.failed, s.dead, s.oldest_pending_seconds > 0) from public.embedding_status('m') s $$;
create function pg_temp.jobs() returns text
language sql as $$
  select concat_ws(' ', count(*) filter (where w.state = 2), count(*) filter (where w.state = 1), count(*) filter (where w.state = 3),
    count(*) filter (where w.state = 4), count(*) filter (where w.state in (2, 3)) > 0)
  from (
    select min(case when j.dead_at is not null then 4 when j.lease_id is not null and j.due_at > clock_timestamp() then 1
      when j.attempts > 0 and j.lease_id is null then 3 else 2 end) as state
    from job j group by j.project_id, j.ticket_id, j.comment_id, j.document_id) w
$$;
create function pg_temp.counted(model text) returns bigint[]
language sql as $$
  with serving as (
    select s.serving, coalesce(s.model, counted.model) as model from tasklens.embedding_sets s
  ), text as (
    select p.project_id, null::bigint as ticket_id, null::bigint as comment_id from public.projects p where p.name ~ '\S' or p.description ~ '\S'
    union all
    select t.project_id, t.ticket_id, null from public.tickets t
    where t.name ~ '\S' or t.description ~ '\S' or exists (select from public.status_changes n where n.ticket_id = t.ticket_id and n.note ~ '\S')
    union all
    select t.project_id, t.ticket_id, c.comment_id from public.comments c join public.tickets t using (ticket_id) where c.body ~ '\S'
  )
  select array[
    (select count(*) from public.chunks c join serving s on c.embedding_set = s.serving) + (select count(*) from public.document_chunks),
    (select count(*) from text t where not exists (
      select from public.chunks c join serving s on c.embedding_set = s.serving and c.model = s.model
      where c.project_id = t.project_id and c.ticket_id is not distinct from t.ticket_id and c.comment_id is not distinct from t.comment_id))
      + (select count(*) from public.documents d where not exists (
        select from public.embeddings e where e.document_id = d.id and e.chunk_id is null and e.model = counted.model))]
$$;
-- Chunks are written by hand here, so they are counted by hand.
create function pg_temp.is_right(what text) returns setof text
language plpgsql as $$
begin
  perform tasklens.recount_sources();
  if pg_temp.queue() <> pg_temp.jobs() then
    return next fail(what || ': the queue has ' || pg_temp.jobs() || ', the status reports ' || pg_temp.queue());
  end if;
  if exists (select from unnest(array['m', 'n', null]) m where (pg_temp.counted(m))[2] <> (select count(*) from tasklens.missing_sources(m))) then
    return next fail(what || ': missing_sources returns others');
  end if;
  return next results_eq('select pg_temp.reported(m) from unnest(array[''m'', ''n'', null]) m', 'select pg_temp.counted(m) from unnest(array[''m'', ''n'', null]) m', what);
end
$$;
create function pg_temp.chunk(project bigint, ticket bigint, place integer, model text default 'm', in_set integer default 1, note bigint default null) returns void
language sql as $$
  insert into public.chunks (embedding_set, project_id, ticket_id, status_change_id, kind, position, text, tokens, input_hash, model, embedding)
  values (in_set, project, ticket, note, case when ticket is null then 'project' when note is null then 'ticket' else 'status_note' end, place, 't', 1, 'h', model, pg_temp.unit(1))
$$;

select is(pg_temp.reported('m'), '{0,0}', 'the counts of an empty database are zero');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', ' '), (3, 'CC', 'Cherries');
insert into public.tickets (ticket_id, project_id, status_id, name, description) values (11, 1, 1, 'eleven', null), (12, 1, 1, '', 'twelve'), (13, 2, 1, ' ', null), (14, 3, 1, 'fourteen', null);
select is(pg_temp.reported('m'), '{0,5}', 'sources with a text and without chunks are counted');
select pg_temp.is_right('counts exclude sources without a text');
insert into public.status_changes (status_change_id, ticket_id, note) values (1, 13, 'n'), (2, 13, 'm'), (3, 11, ' '), (4, 11, 'x');
select is(pg_temp.reported('m'), '{0,6}', 'a ticket whose only text is a note is counted');
select pg_temp.is_right('counts of a ticket with two notes');
delete from public.status_changes where status_change_id = 1;
select pg_temp.is_right('counts after one of a ticket''s two notes is deleted');
update public.status_changes set note = ' ' where status_change_id = 2;
select pg_temp.is_right('counts after a ticket''s last note becomes blank');
update public.status_changes set ticket_id = 13 where status_change_id = 4;
select pg_temp.is_right('counts after a note moves to another ticket');

select pg_temp.chunk(1, null, 0), pg_temp.chunk(1, 11, 0), pg_temp.chunk(1, 11, 1), pg_temp.chunk(2, 13, 0, 'n'), pg_temp.chunk(2, 13, 1, 'n'), pg_temp.chunk(3, 14, 0, 'n');
select tasklens.recount_sources();
select is(pg_temp.reported('m'), '{6,4}', 'chunks are counted, and sources with chunks of the model are not missing');
select pg_temp.is_right('counts of sources with chunks of different models');
update public.tickets set name = ' ' where ticket_id = 11;
select pg_temp.is_right('counts after a ticket''s text becomes blank while it has chunks');
update public.chunks set model = 'm' where ticket_id = 14;
select pg_temp.is_right('counts after a chunk changes its model');
update public.tickets set project_id = 3 where ticket_id = 11;
select pg_temp.is_right('counts after a ticket moves to another project');
update public.tickets set ticket_id = 15 where ticket_id = 14;
select pg_temp.is_right('counts after a ticket gets another ID');
delete from public.chunks where ticket_id = 13 and position = 1;
select pg_temp.is_right('counts after a chunk is deleted');

-- Two sets ----------------------------------------------------------------------------------------

update tasklens.embedding_sets set model = 'm', chunking = 1, other_state = 'building', other_model = 'n', other_chunking = 1, began_at = now();
select pg_temp.chunk(1, null, 0, 'n', 2), pg_temp.chunk(3, 11, 0, 'n', 2), pg_temp.chunk(3, 11, 1, 'n', 2), pg_temp.chunk(1, 12, 0, 'n', 2);
select pg_temp.is_right('counts exclude the set that is being built');
update tasklens.embedding_sets set serving = 2, model = 'n', other_state = 'retired', other_model = 'm', began_at = null;
select pg_temp.is_right('counts of the new set after the switch');
delete from public.chunks where embedding_set = 1;
select pg_temp.is_right('counts after the chunks of the retired set are deleted');

-- Documents ---------------------------------------------------------------------------------------

insert into public.documents (id, title) select ('00000000-0000-4000-8000-00000000000' || i)::uuid, 'One' from generate_series(1, 3) i;
select pg_temp.is_right('counts of documents without vectors');
insert into public.document_chunks (chunk_id, document_id, position, text, tokens, input_hash) select d.id, d.id, 0, 't', 1, 'h' from public.documents d;
insert into public.embeddings (document_id, chunk_id, model, embedding)
select d.id, c.chunk_id, 'm', (array[1::double precision] || array_fill(0::double precision, array[767]))::extensions.vector
from public.documents d cross join lateral (values (d.id), (null)) as c(chunk_id);
select pg_temp.is_right('counts of embedded documents');
update public.embeddings set model = case document_id when '00000000-0000-4000-8000-000000000001' then 'n' end where chunk_id is null and document_id <> '00000000-0000-4000-8000-000000000003';
select pg_temp.is_right('counts of documents embedded by different models');
delete from public.documents where id = '00000000-0000-4000-8000-000000000001';
select pg_temp.is_right('counts after a document is deleted');
delete from public.embeddings where chunk_id is null;
select pg_temp.is_right('counts after documents'' vectors are deleted');

-- The queue ---------------------------------------------------------------------------------------

create temporary table lease as select l.lease_id, array(select (j ->> 'job_id')::bigint from jsonb_array_elements(l.jobs) j) as ids from public.claim_embedding_jobs(4) l;
select is((select count(*) from lease where cardinality(ids) = 4), 1::bigint, 'four jobs are claimed');
select pg_temp.is_right('counts of claimed jobs');
update public.tickets set description = description || '.', name = name || '.';
select pg_temp.is_right('counts of claimed jobs whose tickets are edited');
select public.fail_embedding_jobs(lease_id, ids[1:1], 'No.'), public.fail_embedding_jobs(lease_id, ids[2:2], 'No.', 1) from lease;
select pg_temp.is_right('counts after one job has failed and another is dead');
update tasklens.embedding_jobs set due_at = clock_timestamp() - interval '1 minute', requested_at = clock_timestamp() - interval '1 hour' where lease_id is not null;
select pg_temp.is_right('counts after leases expire');
select ok((select oldest_pending_seconds between 3600 and 5400 from public.embedding_status('m')), 'sources with expired leases count as pending since their first request');
select public.finish_embedding_jobs(lease_id, ids) from lease;
select pg_temp.is_right('counts after jobs finish');
update tasklens.embedding_jobs set dead_at = now() where source_id = pg_temp.source(12);
update tasklens.embedding_jobs set attempts = 1 where source_id = pg_temp.source(13);
select pg_temp.is_right('counts after more jobs are dead');
select is(pg_temp.queue(), '4 0 2 2 t', 'the queue has jobs that are pending, failed and dead');
select public.replay_embedding_jobs();
select pg_temp.is_right('counts after dead jobs are replayed');

-- Cascades and truncation -------------------------------------------------------------------------

savepoint before;
delete from public.projects where project_id = 3;
select pg_temp.is_right('counts after a project is deleted with its tickets and chunks');
rollback to before;
select pg_temp.is_right('counts after the deletion of a project is rolled back');
truncate public.embeddings;
select pg_temp.is_right('counts after vectors of documents are truncated');
truncate public.document_chunks cascade;
select pg_temp.is_right('counts after document chunks are truncated');
truncate public.documents cascade;
select pg_temp.is_right('counts after documents are truncated');
truncate public.status_changes cascade;
select pg_temp.is_right('counts after status changes are truncated with the chunks');
truncate public.projects cascade;
select is(pg_temp.reported('m'), '{0,0}', 'the counts are zero after everything is truncated');
select pg_temp.is_right('counts after projects are truncated');

-- Loads -------------------------------------------------------------------------------------------

create or replace function tasklens.refresh_entries(ticket_ids bigint[], project_ids bigint[] default '{}') returns void language sql as '';
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples');
insert into public.tickets (key, project_id, status_id, name) select 'AA-' || i, 1, 1, 'Ticket ' || i from generate_series(1, 3000) i;
select pg_temp.is_right('counts after a bulk load');

-- Simulates a load with triggers disabled.
alter table public.tickets disable trigger user;
insert into public.tickets (key, project_id, status_id, name) values ('AA-unseen', 1, 1, 'Unseen');
alter table public.tickets enable trigger user;
select tasklens.recount_sources();
select pg_temp.is_right('recount_sources counts rows loaded with triggers disabled');

select * from finish();
rollback;
