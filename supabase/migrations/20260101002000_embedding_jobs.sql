-- What is embedded, and the queue of it. Writers of texts add to both in the same transaction and
-- never wait: a job that is locked is skipped and a redundant one added. That is cheap, because its
-- worker finds the chunks up to date and ends it.

-- One row for each ticket (with its notes), comment, project (its own text) and document, made by
-- the triggers that queue it. Writers of texts only insert: an update could wait for a worker, or
-- fail in an older snapshot. What is stored is recorded by those who store it.
create table private.sources (
  source_id bigint generated always as identity primary key,
  project_id bigint references public.projects on update cascade on delete cascade,
  ticket_id bigint references public.tickets on update cascade on delete cascade,
  comment_id bigint references public.comments on update cascade on delete cascade,
  document_id uuid references public.documents on update cascade on delete cascade,
  models text[] not null default '{null,null}',
  chunks integer[] not null default '{0,0}',
  check (num_nonnulls(project_id, ticket_id, comment_id, document_id) = 1)
)
with (fillfactor = 85);
comment on table private.sources is 'What is embedded on its own: a ticket or a comment (in any project), a project''s own text, or a document.';
comment on column private.sources.models is 'By set of chunks, the model of what is stored; null: nothing is. Of a document, the first is that of its own vector.';
comment on column private.sources.chunks is 'By set of chunks, how many are stored. Of a document, the first.';

create unique index sources_project_id_idx on private.sources (project_id) where project_id is not null;
create unique index sources_ticket_id_idx on private.sources (ticket_id) where ticket_id is not null;
create unique index sources_comment_id_idx on private.sources (comment_id) where comment_id is not null;
create unique index sources_document_id_idx on private.sources (document_id) where document_id is not null;

-- Sources without a text have nothing to embed; they are few.
create index projects_without_text_idx on public.projects (project_id) where (name ~ '\S' or description ~ '\S') is not true;
create index tickets_without_text_idx on public.tickets (ticket_id) where (name ~ '\S' or description ~ '\S') is not true;
create index comments_without_text_idx on public.comments (comment_id) where (body ~ '\S') is not true;

alter table private.sources enable row level security;
grant select, insert, update, delete on private.sources to service_role;

create table private.embedding_jobs (
  embedding_job_id bigint generated always as identity primary key,
  source_id bigint not null,
  background boolean not null,
  with_children boolean not null default false,
  requested_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  lease_id uuid,
  dead_at timestamptz,
  last_error text,
  check (lease_id is null or dead_at is null)
)
-- Rows are short-lived.
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
comment on table private.embedding_jobs is
  'Sources whose chunks may be out of date. There is no foreign key: the job of a deleted source just ends.';
comment on column private.embedding_jobs.background is 'Runs after jobs of fresh edits.';
comment on column private.embedding_jobs.with_children is 'For a project, all its tickets follow; for a ticket, all its comments: the name is in the header of their chunks.';
comment on column private.embedding_jobs.due_at is 'When it may be claimed: at once, after a pause, or (if running) when its lease expires.';
comment on column private.embedding_jobs.attempts is 'How often it was claimed and neither ended nor released. A worker that dies has used one up.';
comment on column private.embedding_jobs.lease_id is 'The lease of its current worker. Only that lease can end it.';
comment on column private.embedding_jobs.dead_at is 'When it became dead, because of last_error. It stays until it is replayed.';

create index embedding_jobs_due_idx on private.embedding_jobs (background, due_at, embedding_job_id) where dead_at is null;
create index embedding_jobs_requested_at_idx on private.embedding_jobs (requested_at) where dead_at is null and lease_id is null;
create index embedding_jobs_source_id_idx on private.embedding_jobs (source_id);
create index embedding_jobs_lease_id_idx on private.embedding_jobs (lease_id) where lease_id is not null;

alter table private.embedding_jobs enable row level security;
grant select, insert, update, delete on private.embedding_jobs to service_role;

-- Sources that came without triggers have no row yet.
create function private.find_sources(
  project_ids bigint[] default '{}', ticket_ids bigint[] default '{}', comment_ids bigint[] default '{}', document_ids uuid[] default '{}'
)
returns bigint[]
-- A plan cached while the table was empty would scan all of it.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  source_ids bigint[];
begin
  for attempt in 1..2 loop
    source_ids := array(
      select s.source_id from private.sources s where s.project_id = any (find_sources.project_ids)
      union all
      select s.source_id from private.sources s where s.ticket_id = any (find_sources.ticket_ids)
      union all
      select s.source_id from private.sources s where s.comment_id = any (find_sources.comment_ids)
      union all
      select s.source_id from private.sources s where s.document_id = any (find_sources.document_ids));
    exit when attempt = 2
      or cardinality(source_ids) = cardinality(project_ids) + cardinality(ticket_ids) + cardinality(comment_ids) + cardinality(document_ids);
    insert into private.sources (project_id, ticket_id, comment_id, document_id)
    select a.project_id, a.ticket_id, a.comment_id, a.document_id
    from (
      select p.project_id, null::bigint as ticket_id, null::bigint as comment_id, null::uuid as document_id from public.projects p
      where p.project_id = any (find_sources.project_ids)
      union all
      select null, t.ticket_id, null, null from public.tickets t where t.ticket_id = any (find_sources.ticket_ids)
      union all
      select null, null, c.comment_id, null from public.comments c where c.comment_id = any (find_sources.comment_ids)
      union all
      select null, null, null, d.id from public.documents d where d.id = any (find_sources.document_ids)
    ) a
    where not exists (select from private.sources s where s.project_id = a.project_id)
      and not exists (select from private.sources s where s.ticket_id = a.ticket_id)
      and not exists (select from private.sources s where s.comment_id = a.comment_id)
      and not exists (select from private.sources s where s.document_id = a.document_id)
    order by a.project_id, a.ticket_id, a.comment_id, a.document_id
    on conflict do nothing;
    exit when not found;
  end loop;
  return source_ids;
end
$$;
comment on function private.find_sources is 'The sources of these projects'' own texts, tickets, comments and documents, without those that do not exist. Adds missing rows.';

-- A waiting job will see what this transaction writes, unless it is claimed before the commit. So
-- it is locked against claiming; if that would block, a second job is added. Claiming merges both.
create function private.enqueue_sources(source_ids bigint[], with_children boolean default false, background boolean default false)
returns bigint
-- A plan cached while the queue was empty would scan all of it at every edit.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  start constant timestamptz := clock_timestamp();
  -- A bulk loader that embeds its rows itself declares so, which delays workers.
  due constant timestamptz := start + least('10 minutes', coalesce(nullif(current_setting('tasklens.embedding_delay', true), ''), '0')::interval);
  -- Hundreds at once are not a user's edit.
  behind constant boolean := enqueue_sources.background or cardinality(enqueue_sources.source_ids) > 100;
  waiting bigint[] := array[]::bigint[];
  added bigint;
begin
  -- The deletion of a ticket without notes also fires the triggers on notes.
  if enqueue_sources.source_ids = '{}' then
    return 0;
  end if;
  -- In an older snapshot, locking a job claimed meanwhile would fail the writer.
  if current_setting('transaction_isolation') = 'read committed' then
    waiting := array(
      select j.source_id from private.embedding_jobs j
      where j.source_id = any (enqueue_sources.source_ids) and j.lease_id is null and j.dead_at is null and j.attempts = 0
        and j.due_at <= due and j.background <= behind and j.with_children >= enqueue_sources.with_children
      for key share skip locked);
  end if;
  insert into private.embedding_jobs (source_id, background, with_children, requested_at, due_at)
  select s.source_id, behind, enqueue_sources.with_children, start, due
  from (select unnest(enqueue_sources.source_ids) as source_id except select unnest(waiting)) s
  order by s.source_id;
  get diagnostics added = row_count;
  return added;
end
$$;
comment on function private.enqueue_sources is
  'Queues these sources for embedding; with_children: also all tickets of a project, and all comments on a ticket. More than 100 at once, or background, run after others. Never waits. Returns how many jobs it added to those already waiting.';

-- Call this before reading the texts again, so that the texts read include the locked jobs' edits.
create function private.lock_waiting_jobs(source_ids bigint[])
returns setof bigint
language sql volatile rows 100 security invoker set search_path = ''
as $$
  select j.embedding_job_id from private.embedding_jobs j
  where j.lease_id is null and not j.with_children and j.source_id = any (lock_waiting_jobs.source_ids)
  for update skip locked
$$;
comment on function private.lock_waiting_jobs is
  'Locks the unclaimed jobs of these sources, as far as possible without waiting, and returns them.';

create function private.stored_chunks(source_ids bigint[])
returns table (source_id bigint, models text[], chunks integer[])
language sql stable rows 100 security invoker set search_path = ''
as $$
  select s.source_id,
    array[max(c.model) filter (where c.embedding_set = 1), max(c.model) filter (where c.embedding_set = 2)],
    array[coalesce(sum(c.chunks) filter (where c.embedding_set = 1), 0), coalesce(sum(c.chunks) filter (where c.embedding_set = 2), 0)]::integer[]
  from private.sources s
  left join lateral (
    select k.embedding_set, k.model, 1 as chunks from public.chunks k where k.ticket_id = s.ticket_id and k.comment_id is null
    union all
    select k.embedding_set, k.model, 1 from public.chunks k where k.comment_id = s.comment_id
    union all
    select k.embedding_set, k.model, 1 from public.chunks k where k.project_id = s.project_id and k.ticket_id is null
    union all
    select 1, null, 1 from public.document_chunks k where k.document_id = s.document_id
    union all
    select 1, e.model, 0 from public.embeddings e where e.document_id = s.document_id and e.chunk_id is null
  ) c on true
  where s.source_id = any (stored_chunks.source_ids)
  group by s.source_id
$$;
comment on function private.stored_chunks is 'The model and the number of the chunks that these sources have, by set.';

-- Called when a source is stored, and when its job ends: a note may have been deleted with its
-- chunks. Mostly nothing has changed, and no row is locked: who deletes a source would wait for it.
create function private.count_chunks(source_ids bigint[]) returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  changed bigint[];
begin
  changed := array(
    select s.source_id from private.stored_chunks(count_chunks.source_ids) c join private.sources s using (source_id)
    where (s.models, s.chunks) is distinct from (c.models, c.chunks));
  if changed <> '{}' then
    changed := array(select s.source_id from private.sources s where s.source_id = any (changed) for no key update skip locked);
    update private.sources s set models = c.models, chunks = c.chunks
    from private.stored_chunks(changed) c
    where s.source_id = c.source_id;
  end if;
end
$$;
comment on function private.count_chunks is 'Records the model and the number of the chunks that these sources have.';

create function private.add_missing_sources() returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into private.sources (project_id)
  select p.project_id from public.projects p where not exists (select from private.sources s where s.project_id = p.project_id)
  on conflict do nothing;
  insert into private.sources (ticket_id)
  select t.ticket_id from public.tickets t where not exists (select from private.sources s where s.ticket_id = t.ticket_id)
  on conflict do nothing;
  insert into private.sources (comment_id)
  select c.comment_id from public.comments c where not exists (select from private.sources s where s.comment_id = c.comment_id)
  on conflict do nothing;
  insert into private.sources (document_id)
  select d.id from public.documents d where not exists (select from private.sources s where s.document_id = d.id)
  on conflict do nothing;
$$;
comment on function private.add_missing_sources is 'Adds the sources that came without triggers.';

create function private.recount_sources() returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.add_missing_sources();
  perform private.count_chunks(array(select s.source_id from private.sources s));
end
$$;
comment on function private.recount_sources is 'Adds and counts all sources, for use after a load without triggers, or after chunks were written or deleted by hand.';

insert into private.migrations (version) values ('20260101002000');
