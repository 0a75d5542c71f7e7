-- What the service keeps here: the version of the data, for its cache, and a log of questions.

-- A cached response is stale once the version differs: the sum of the random numbers that a
-- snapshot sees, one of each transaction that changed what a search can find, for each project. So
-- it changes when the writer commits, and is another one after a restore. Writers never wait.

create table tasklens.data_versions (
  project_id bigint primary key,
  total numeric not null
);
comment on table tasklens.data_versions is
  'The merged changes of each project; 0: of all projects; -1: of documents; below: of users'' memberships.';

create table tasklens.data_version_changes (
  project_id bigint not null,
  -- A copied database may repeat a transaction number, but not at the same time.
  transaction_id xid8 not null default pg_current_xact_id(),
  started_at timestamptz not null default now(),
  change bigint not null default hashtextextended(gen_random_uuid()::text, 0),
  primary key (project_id, transaction_id, started_at)
);
comment on table tasklens.data_version_changes is 'Changes not merged into data_versions yet, one row per transaction and project.';

create function tasklens.change_data_version(project_ids bigint[]) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  gathered constant integer := 200; -- rows that every reader adds up
begin
  -- One change per project and transaction is enough: nobody sees a part of a transaction.
  insert into tasklens.data_version_changes (project_id)
  select distinct p.project_id from unnest(project_ids) as p(project_id) where p.project_id is not null
  on conflict (project_id, transaction_id, started_at) do nothing;
  if found and (select count(*) from (select 1 from tasklens.data_version_changes c limit gathered + 1) c) > gathered
    -- As in merge_word_counts.
    and current_setting('transaction_isolation') = 'read committed' and pg_try_advisory_xact_lock(hashtext('tasklens.data_versions')) then
    with gone as (
      delete from tasklens.data_version_changes returning data_version_changes.project_id, data_version_changes.change
    )
    insert into tasklens.data_versions as v (project_id, total)
    select g.project_id, sum(g.change) from gone g group by g.project_id
    on conflict (project_id) do update set total = v.total + excluded.total;
  end if;
end
$$;
comment on function tasklens.change_data_version is 'Changes the version of these projects when the transaction commits; 0 changes that of all.';

-- A user's memberships are treated like a project. If two users share a number, each changes the
-- other's version too.
create function tasklens.membership_version(user_id uuid) returns bigint
language sql immutable security invoker set search_path = ''
as $$
  select -2 - (hashtextextended(membership_version.user_id::text, 0) & 4611686018427387903)
$$;
comment on function tasklens.membership_version is 'The number for a user''s memberships, in the range below the projects'' numbers.';

-- Another set of projects has another version, and changes in others have no effect. A membership
-- that was added and removed changes it too: a result cached in between, under an earlier version,
-- may contain more. Security definer, because callers cannot read the versions.
create function tasklens.read_data_version(project_filter bigint)
returns table (version text, model text, match_thresholds jsonb)
language plpgsql stable rows 1 security definer set search_path = ''
as $$
declare
  visible constant bigint[] := tasklens.projects_as('viewer');
  memberships bigint; -- null where nothing depends on them
begin
  if visible is not null then
    memberships := tasklens.membership_version(tasklens.user_id());
  end if;
  -- Results also depend on the search functions themselves.
  return query select (select concat(count(*), '-', max(m.version)) from tasklens.migrations m) || '-'
    || coalesce((
      select sum(v.total) from (
        select d.project_id, d.total from tasklens.data_versions d
        union all
        select c.project_id, c.change from tasklens.data_version_changes c
      ) v
      where case
        when v.project_id < -1 then v.project_id = memberships
        else (read_data_version.project_filter is null or v.project_id in (0, read_data_version.project_filter))
          and (visible is null or v.project_id = 0 or v.project_id = any (visible) or v.project_id = -1 and visible <> '{}') end), 0)
    || coalesce('-' || hashtextextended(visible::text, 0), ''), s.model, s.match_thresholds
    from public.embedding_sets() s;
end
$$;
comment on function tasklens.read_data_version is 'data_version, for what the caller may see.';

create function public.data_version(project_filter bigint default null, filters jsonb default null)
returns table (version text, model text, match_thresholds jsonb)
language sql stable rows 1 security invoker set search_path = ''
as $$
  select v.* from tasklens.read_data_version(data_version.project_filter) v
  where data_version.filters is null or tasklens.read_filters(data_version.filters) is not null
$$;
comment on function public.data_version is
  'The version of everything that a search can find, or of one project, with the model of the serving set and the thresholds as embedding_sets has them. Two versions are equal only if they include the same committed changes and the caller may see the same projects. Invalid filters are an error (22023), which the service learns so before it asks a model.';

-- A log of questions and searches with their results, for operators: questions without results,
-- answers without citations, slow requests. It contains question texts. The service writes it
-- unless QUERY_LOG_RETENTION is 0.

create table tasklens.query_log (
  query_id uuid primary key,
  asked_at timestamptz not null,
  request_id text,
  kind text not null check (kind in ('query', 'search')),
  question text not null,
  parameters jsonb,
  outcome text not null,
  error text,
  sources jsonb,
  best_similarity double precision,
  answer text,
  model text,
  low_similarity boolean,
  ambiguous boolean,
  uncited boolean,
  unknown_citations integer,
  cached boolean,
  streamed boolean,
  tokens_in integer,
  tokens_out integer,
  embedding_ms double precision,
  retrieval_ms double precision,
  chat_ms double precision,
  total_ms double precision not null
);
comment on table tasklens.query_log is
  'One row per question or search. sources: [{project_id, document_id, ticket_id, ticket_key, chunk_id, similarity, cited}] in order. unknown_citations: how many brackets of the answer look like citations and name no source.';
create index query_log_asked_at_idx on tasklens.query_log (asked_at);
create index query_log_unanswered_idx on tasklens.query_log (asked_at) where outcome in ('abstained', 'nothing');

create function public.log_queries(entries jsonb, retention_days integer default 30)
returns table (logged bigint, deleted bigint)
language sql volatile rows 1 security invoker set search_path = ''
as $$
  with written as (
    insert into tasklens.query_log
    select e.* from jsonb_populate_recordset(null::tasklens.query_log, log_queries.entries) e
    -- A client that missed the response sends the rows again.
    on conflict (query_id) do nothing
    returning 1
  ), gone as (
    delete from tasklens.query_log l
    where l.query_id in (
      select o.query_id from tasklens.query_log o
      where o.asked_at < now() - make_interval(days => tasklens.clamp(log_queries.retention_days, 30, 1, 36500))
      order by o.asked_at
      limit 1000
      -- Another instance may be deleting the same rows.
      for update skip locked)
    returning 1
  )
  select (select count(*) from written), (select count(*) from gone)
$$;
comment on function public.log_queries is
  'Writes entries to the query log, each query_id once, and deletes up to 1,000 rows older than retention_days.';

create function public.unanswered_questions(days integer default 7, match_count integer default 50)
returns table (question text, times bigint, last_asked_at timestamptz, best_similarity double precision)
language sql stable rows 50 security invoker set search_path = ''
as $$
  select (array_agg(l.question order by l.asked_at desc, l.query_id))[1], count(*), max(l.asked_at), max(l.best_similarity)
  from tasklens.query_log l
  -- Questions that differ only in case, spaces or punctuation at the ends are the same.
  cross join lateral (select btrim(regexp_replace(lower(normalize(l.question, nfkc)), '\s+', ' ', 'g'), ' ?!.,;:"''…') as question) k
  where l.outcome in ('abstained', 'nothing')
    and l.asked_at > now() - make_interval(days => tasklens.clamp(unanswered_questions.days, 7, 1, 36500))
  group by k.question
  order by count(*) desc, max(l.asked_at) desc, k.question
  limit tasklens.clamp(unanswered_questions.match_count, 50, 1, 1000)
$$;
comment on function public.unanswered_questions is
  'The questions and searches without results in the last days, most frequent first, with the best similarity of any text.';

insert into tasklens.migrations (version) values ('20261127001300');
