-- A team's knowledge outside of tickets: decisions, runbooks, notes.

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  origin text,
  title text not null check (title ~ '\S' and length(title) <= 500),
  content text not null default '',
  keywords text[] not null default '{}',
  upserted_keywords text[] default '{}',
  enriched_keywords text[] not null default '{}',
  named_entities jsonb not null default '[]' check (jsonb_typeof(named_entities) = 'array'
    and not named_entities @? '$[*] ? (@.type() != "object" || !exists(@.name) || @.name.type() != "string")'
    and not named_entities @? '$[*].type ? (@.type() != "string" && @.type() != "null")'),
  enriched_entities jsonb not null default '[]',
  temporal_class text check (temporal_class in ('evergreen', 'current', 'dated', 'historical', 'unknown')),
  given_temporal_class text,
  archived boolean not null default false,
  embedding_status text not null default 'pending' check (embedding_status in ('pending', 'complete', 'failed')),
  utility_score double precision not null default 0 check (utility_score >= 0 and utility_score <> 'NaN'),
  utility_base double precision not null,
  helpful_votes bigint not null default 0 check (helpful_votes >= 0),
  unhelpful_votes bigint not null default 0 check (unhelpful_votes >= 0),
  retrieval_count bigint not null default 0 check (retrieval_count >= 0),
  last_retrieved_at timestamptz,
  retrieval_queries text[] not null default '{}',
  enriched_at timestamptz,
  enrichment_model text,
  enrichment_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  visible_text text generated always as (nullif(tasklens.visible_text(content), content)) stored
)
-- Retrieval counts are updated often: the fill factor leaves room for the new row, and long texts
-- are stored out of line.
with (fillfactor = 80, toast_tuple_target = 256);
alter table public.documents alter column content set storage external;
comment on table public.documents is 'A document. Its age counts from created_at, which a new text does not change.';
comment on column public.documents.origin is 'The folder whose import brought it, null for others. It is removed with its file on request.';
comment on column public.documents.upserted_keywords is 'The keywords of the last upsert_documents call that had any. The next call replaces these and keeps others.';
comment on column public.documents.enriched_keywords is
  'The keywords that enrichment found, beside those given, and those that an edit removed: they are no longer in keywords, and enrichment does not bring them back.';
comment on column public.documents.named_entities is 'The names in the text, [{name, type}]. Entities are equal where name and type are, without regard to case.';
comment on column public.documents.enriched_entities is 'As enriched_keywords.';
comment on column public.documents.temporal_class is 'How long the text stays valid.';
comment on column public.documents.given_temporal_class is 'The class written by people and programs, null if it comes from enrichment.';
comment on column public.documents.utility_score is
  'How useful readers find it, 0 to 10: (19 * utility_base + 10 * helpful_votes) / (19 + helpful_votes + unhelpful_votes). Writing it sets utility_base.';
comment on column public.documents.utility_base is 'The score without votes, weighing as much as 19 of them. Outside of 0 to 10 if a score was written after many votes.';
comment on column public.documents.helpful_votes is 'The helpful rows of document_votes, as counted by a trigger.';
comment on column public.documents.retrieval_queries is 'The last 50 distinct queries that found it, oldest first.';
comment on column public.documents.enriched_at is 'When the current text was enriched. Null: not yet.';
comment on column public.documents.enrichment_error is 'Why the last attempt to enrich the current text failed.';

-- Columns that search may return.
create index documents_utility_score_idx on public.documents (utility_score desc, id) where not archived and embedding_status = 'complete';
create index documents_created_at_idx on public.documents (created_at desc, id) where not archived and embedding_status = 'complete';
create index documents_unenriched_idx on public.documents (archived, created_at, id) where enriched_at is null;

alter table public.documents enable row level security;
revoke all on public.documents from anon, authenticated, service_role;
grant select, insert, update, delete on public.documents to service_role;
-- Documents belong to no project: every member of any project can read them. Queries of other users
-- are not readable.
grant select (
  id, title, content, keywords, upserted_keywords, enriched_keywords, named_entities, enriched_entities, temporal_class, given_temporal_class,
  archived, embedding_status, utility_score, utility_base, helpful_votes, unhelpful_votes, retrieval_count, last_retrieved_at, enriched_at, enrichment_model, enrichment_error, created_at, updated_at, visible_text, origin
) on public.documents to authenticated;
create policy read_documents on public.documents for select to authenticated
  using ((select tasklens.projects_as('viewer')) <> '{}');

insert into tasklens.migrations (version) values ('20261127001100');
