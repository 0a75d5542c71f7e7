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
  'One row per question or search. sources: [{project_id, document_id, ticket_id, ticket_key, chunk_id, similarity, cited}] in order. unknown_citations: how many were removed from the answer because they named no source.';
create index query_log_asked_at_idx on tasklens.query_log (asked_at);
create index query_log_unanswered_idx on tasklens.query_log (asked_at) where outcome in ('abstained', 'nothing');
alter table tasklens.query_log enable row level security;
-- Rows are never updated, but locking them for deletion requires the right.
grant select, insert, update, delete on tasklens.query_log to service_role;

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

insert into tasklens.migrations (version) values ('20261127001330');
