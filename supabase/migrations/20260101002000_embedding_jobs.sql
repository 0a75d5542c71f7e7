-- The queue of sources to embed (a ticket with its notes, a comment, a project's own text, or a
-- document). Writers of texts add to it in the same transaction and never wait: a job that is
-- locked is skipped and a redundant one added. That is cheap, because its worker finds the chunks
-- up to date and ends it.

create table private.embedding_jobs (
  embedding_job_id bigint generated always as identity primary key,
  project_id bigint,
  ticket_id bigint,
  comment_id bigint,
  document_id uuid,
  background boolean not null,
  with_children boolean not null default false,
  requested_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  lease_id uuid,
  dead_at timestamptz,
  last_error text,
  check (num_nonnulls(project_id, ticket_id, comment_id, document_id) = 1),
  check (lease_id is null or dead_at is null)
)
-- Rows are short-lived.
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
comment on table private.embedding_jobs is
  'Sources whose chunks may be out of date: a ticket or a comment (in any project), a project''s own text, or a document. There are no foreign keys: the job of a deleted source just ends.';
comment on column private.embedding_jobs.background is 'Runs after jobs of fresh edits.';
comment on column private.embedding_jobs.with_children is 'For a project, all its tickets follow; for a ticket, all its comments: the name is in the header of their chunks.';
comment on column private.embedding_jobs.due_at is 'When it may be claimed: at once, after a pause, or (if running) when its lease expires.';
comment on column private.embedding_jobs.attempts is 'How often it was claimed and neither ended nor released. A worker that dies has used one up.';
comment on column private.embedding_jobs.lease_id is 'The lease of its current worker. Only that lease can end it.';
comment on column private.embedding_jobs.dead_at is 'When it became dead, because of last_error. It stays until it is replayed.';

create index embedding_jobs_due_idx on private.embedding_jobs (background, due_at, embedding_job_id) where dead_at is null;
create index embedding_jobs_requested_at_idx on private.embedding_jobs (requested_at) where dead_at is null and lease_id is null;
create index embedding_jobs_ticket_id_idx on private.embedding_jobs (ticket_id) where ticket_id is not null;
create index embedding_jobs_project_id_idx on private.embedding_jobs (project_id) where project_id is not null;
create index embedding_jobs_comment_id_idx on private.embedding_jobs (comment_id) where comment_id is not null;
create index embedding_jobs_document_id_idx on private.embedding_jobs (document_id) where document_id is not null;
create index embedding_jobs_lease_id_idx on private.embedding_jobs (lease_id) where lease_id is not null;

alter table private.embedding_jobs enable row level security;
grant select, insert, update, delete on private.embedding_jobs to service_role;

-- A waiting job will see what this transaction writes, unless it is claimed before the commit. So
-- it is locked against claiming; if that would block, a second job is added. Claiming merges both.
create function private.enqueue_sources(
  project_ids bigint[],
  ticket_ids bigint[],
  with_children boolean default false,
  background boolean default false,
  document_ids uuid[] default '{}',
  comment_ids bigint[] default '{}'
)
returns bigint
-- A plan cached while the queue was empty would scan all of it at every edit.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  start constant timestamptz := clock_timestamp();
  -- A bulk loader that embeds its rows itself declares so, which delays workers.
  due constant timestamptz := start + least('10 minutes', coalesce(nullif(current_setting('tasklens.embedding_delay', true), ''), '0')::interval);
  -- Hundreds at once are not a user's edit.
  asked constant integer := cardinality(enqueue_sources.project_ids) + cardinality(enqueue_sources.ticket_ids)
    + cardinality(enqueue_sources.document_ids) + cardinality(enqueue_sources.comment_ids);
  behind constant boolean := enqueue_sources.background or asked > 100;
  waiting_projects bigint[] := array[]::bigint[];
  waiting_tickets bigint[] := array[]::bigint[];
  waiting_documents uuid[] := array[]::uuid[];
  waiting_comments bigint[] := array[]::bigint[];
  added bigint;
begin
  -- The deletion of a ticket without notes also fires the triggers on notes.
  if asked = 0 then
    return 0;
  end if;
  -- In an older snapshot, locking a job claimed meanwhile would fail the writer.
  if current_setting('transaction_isolation') = 'read committed' then
    waiting_projects := array(
      select j.project_id from private.embedding_jobs j
      where j.project_id = any (enqueue_sources.project_ids) and j.lease_id is null and j.dead_at is null and j.attempts = 0
        and j.due_at <= due and j.background <= behind and j.with_children >= enqueue_sources.with_children
      for key share skip locked);
    waiting_tickets := array(
      select j.ticket_id from private.embedding_jobs j
      where j.ticket_id = any (enqueue_sources.ticket_ids) and j.lease_id is null and j.dead_at is null and j.attempts = 0
        and j.due_at <= due and j.background <= behind and j.with_children >= enqueue_sources.with_children
      for key share skip locked);
    waiting_comments := array(
      select j.comment_id from private.embedding_jobs j
      where j.comment_id = any (enqueue_sources.comment_ids) and j.lease_id is null and j.dead_at is null and j.attempts = 0
        and j.due_at <= due and j.background <= behind
      for key share skip locked);
    waiting_documents := array(
      select j.document_id from private.embedding_jobs j
      where j.document_id = any (enqueue_sources.document_ids) and j.lease_id is null and j.dead_at is null and j.attempts = 0
        and j.due_at <= due and j.background <= behind
      for key share skip locked);
  end if;
  insert into private.embedding_jobs (project_id, ticket_id, comment_id, document_id, background, with_children, requested_at, due_at)
  select s.project_id, s.ticket_id, s.comment_id, s.document_id, behind,
    enqueue_sources.with_children and num_nonnulls(s.project_id, s.ticket_id) = 1, start, due
  from (
    select p.project_id, null::bigint as ticket_id, null::bigint as comment_id, null::uuid as document_id
    from (select unnest(enqueue_sources.project_ids) as project_id except select unnest(waiting_projects)) p
    union all
    select null, t.ticket_id, null, null
    from (select unnest(enqueue_sources.ticket_ids) as ticket_id except select unnest(waiting_tickets)) t
    union all
    select null, null, c.comment_id, null
    from (select unnest(enqueue_sources.comment_ids) as comment_id except select unnest(waiting_comments)) c
    union all
    select null, null, null, d.document_id
    from (select unnest(enqueue_sources.document_ids) as document_id except select unnest(waiting_documents)) d
  ) s
  order by s.project_id, s.ticket_id, s.comment_id, s.document_id;
  get diagnostics added = row_count;
  return added;
end
$$;
comment on function private.enqueue_sources is
  'Queues these projects'' own texts, tickets, comments and documents for embedding; with_children: also all tickets of the projects, and all comments on the tickets. More than 100 at once, or background, run after others. Never waits. Returns how many jobs it added to those already waiting.';

-- Call this before reading the texts again, so that the texts read include the locked jobs' edits.
create function private.lock_waiting_jobs(project_ids bigint[], ticket_ids bigint[], comment_ids bigint[] default null)
returns setof bigint
language sql volatile rows 100 security invoker set search_path = ''
as $$
  select j.embedding_job_id from private.embedding_jobs j
  where j.lease_id is null and not j.with_children and (j.comment_id = any (lock_waiting_jobs.comment_ids)
    or j.ticket_id = any (array(
      select s.ticket_id from unnest(lock_waiting_jobs.ticket_ids, lock_waiting_jobs.comment_ids) as s(ticket_id, comment_id) where s.comment_id is null))
    or j.project_id = any (array(
      select s.project_id from unnest(lock_waiting_jobs.project_ids, lock_waiting_jobs.ticket_ids) as s(project_id, ticket_id) where s.ticket_id is null)))
  for update skip locked
$$;
comment on function private.lock_waiting_jobs is
  'Locks the unclaimed jobs of these sources, as far as possible without waiting, and returns them.';

create function private.lock_waiting_document_jobs(document_ids uuid[])
returns setof bigint
language sql volatile rows 100 security invoker set search_path = ''
as $$
  select j.embedding_job_id from private.embedding_jobs j
  where j.lease_id is null and j.document_id = any (lock_waiting_document_jobs.document_ids)
  for update skip locked
$$;
comment on function private.lock_waiting_document_jobs is 'As lock_waiting_jobs, for documents.';

insert into private.migrations (version) values ('20260101002000');
