-- The queue of sources to embed, and of documents to enrich. Writers of texts add to it in the same
-- transaction and never wait: a job that is locked is skipped and a redundant one added. That is
-- cheap, because its worker finds the chunks up to date and ends it.

create table tasklens.embedding_jobs (
  embedding_job_id bigint generated always as identity primary key,
  source_id bigint not null,
  kind text not null default 'embed' check (kind in ('embed', 'enrich')),
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
comment on table tasklens.embedding_jobs is
  'Sources whose chunks may be out of date. There is no foreign key: the job of a deleted source just ends.';
comment on column tasklens.embedding_jobs.kind is 'Enrichment is asked for: its jobs are added when some are claimed.';
comment on column tasklens.embedding_jobs.background is 'Runs after jobs of fresh edits.';
comment on column tasklens.embedding_jobs.with_children is
  'For a project, all its tickets follow; for a ticket, all its comments, whose chunks have its name in their header.';
comment on column tasklens.embedding_jobs.due_at is 'When it may be claimed: at once, after a pause, or (if running) when its lease expires.';
comment on column tasklens.embedding_jobs.attempts is 'How often it was claimed and neither ended nor released. A worker that dies has used one up.';
comment on column tasklens.embedding_jobs.lease_id is 'The lease of its current worker. Only that lease can end it.';
comment on column tasklens.embedding_jobs.dead_at is 'When it became dead, because of last_error. It stays until it is replayed.';

create index embedding_jobs_due_idx on tasklens.embedding_jobs (kind, background, due_at, embedding_job_id) where dead_at is null;
create index embedding_jobs_requested_at_idx on tasklens.embedding_jobs (requested_at) where dead_at is null and lease_id is null;
create index embedding_jobs_source_id_idx on tasklens.embedding_jobs (source_id);
create unique index embedding_jobs_enrich_idx on tasklens.embedding_jobs (source_id) where kind = 'enrich';
create index embedding_jobs_lease_id_idx on tasklens.embedding_jobs (lease_id) where lease_id is not null;

alter table tasklens.embedding_jobs enable row level security;
grant select, insert, update, delete on tasklens.embedding_jobs to service_role;

-- A waiting job will see what this transaction writes, unless it is claimed before the commit. So
-- it is locked against claiming; if that would block, a second job is added. Claiming merges both.
create function tasklens.enqueue_sources(source_ids bigint[], with_children boolean default false, background boolean default false)
returns bigint
-- A plan cached while the queue was empty would scan all of it at every edit.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  -- Hundreds at once are not a user's edit.
  behind constant boolean := enqueue_sources.background or cardinality(enqueue_sources.source_ids) >= 100;
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
      select j.source_id from tasklens.embedding_jobs j
      where j.source_id = any (enqueue_sources.source_ids) and j.kind = 'embed' and j.lease_id is null and j.dead_at is null and j.attempts = 0
        and j.due_at <= clock_timestamp() and j.background <= behind and j.with_children >= enqueue_sources.with_children
      for key share skip locked);
  end if;
  insert into tasklens.embedding_jobs (source_id, background, with_children)
  select s.source_id, behind, enqueue_sources.with_children
  from (select unnest(enqueue_sources.source_ids) as source_id except select unnest(waiting)) s
  order by s.source_id;
  get diagnostics added = row_count;
  return added;
end
$$;
comment on function tasklens.enqueue_sources is
  'Queues these sources for embedding; with_children: also all tickets of a project, and all comments on a ticket. 100 or more at once, or background, run after others. Never waits. Returns how many jobs it added to those already waiting.';

insert into tasklens.migrations (version) values ('20261127001210');
