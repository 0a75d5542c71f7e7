-- A team's knowledge outside of tickets: decisions, runbooks, notes.

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  origin text,
  title text not null check (title ~ '\S' and length(title) <= 500),
  -- As much as a file of notes may have; an API's request has less.
  content text not null default '' constraint documents_content_at_most_4194304_characters check (length(content) <= 4194304),
  keywords text[] not null default '{}' constraint documents_keywords_at_most_1000_characters_50000_in_all check (tasklens.are_names(to_jsonb(keywords))),
  upserted_keywords text[] default '{}',
  enriched_keywords text[] not null default '{}',
  named_entities jsonb not null default '[]' constraint documents_named_entities_at_most_1000_characters_50000_in_all check (tasklens.are_names(named_entities))
    check (jsonb_typeof(named_entities) = 'array'
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
  'The keywords (enriched_entities: entities) that enrichment found, beside those given, and those that an edit removed: they are no longer in keywords, and enrichment does not bring them back.';
comment on column public.documents.named_entities is 'The names in the text, [{name, type}]. Entities are equal where name and type are, without regard to case.';
comment on column public.documents.given_temporal_class is 'The class written by people and programs, null if it comes from enrichment.';
comment on column public.documents.utility_score is
  'How useful readers find it, 0 to 10: (19 * utility_base + 10 * helpful_votes) / (19 + helpful_votes + unhelpful_votes). Writing it sets utility_base.';
comment on column public.documents.utility_base is 'The score without votes, weighing as much as 19 of them. Outside of 0 to 10 if a score was written after many votes.';
comment on column public.documents.retrieval_queries is 'The last 50 distinct queries that found it, oldest first.';

-- Columns that search may return.
create index documents_utility_score_idx on public.documents (utility_score desc, id) where not archived and embedding_status = 'complete';
create index documents_created_at_idx on public.documents (created_at desc, id) where not archived and embedding_status = 'complete';
create index documents_unenriched_idx on public.documents (archived, created_at, id) where enriched_at is null;

alter table public.documents enable row level security;
create policy read_documents on public.documents for select to authenticated
  using ((select tasklens.projects_as('viewer')) <> '{}');

-- The chunks of documents, and all vectors of documents: one per document and one per chunk.

create table public.document_chunks (
  chunk_id uuid primary key default gen_random_uuid(),
  document_id uuid not null references public.documents on delete cascade,
  position bigint not null,
  text text not null,
  tokens integer not null check (tokens > 0),
  input_hash text not null,
  created_at timestamptz not null default now(),
  unique (chunk_id, document_id),
  -- Deferrable, so that one statement can reorder the chunks of a document.
  unique (document_id, position) deferrable initially immediate
);
comment on table public.document_chunks is 'The chunks of documents, in order. The columns are those of chunks.';

create table public.embeddings (
  embedding_id bigint generated always as identity primary key,
  document_id uuid not null references public.documents on delete cascade,
  chunk_id uuid,
  model text,
  embedding extensions.vector(768) not null,
  created_at timestamptz not null default now(),
  foreign key (chunk_id, document_id) references public.document_chunks (chunk_id, document_id) on delete cascade,
  unique nulls not distinct (document_id, chunk_id),
  -- A zero vector has no cosine similarity.
  constraint embeddings_embedding_has_direction check (extensions.vector_norm(embedding) > 0)
);
-- Stored inline: from TOAST storage, bulk comparisons would need an extra read per row.
alter table public.embeddings alter column embedding set storage plain;
comment on table public.embeddings is 'The vectors of documents (chunk_id null) and of their chunks, with 768 dimensions.';
comment on column public.embeddings.model is 'Vectors of different models are never compared. Null: unknown.';

-- Separate indexes: a document's chunks would crowd out other documents. The index of documents has
-- a denser graph than usual, because hybrid search needs the first thousand exactly: this misses a
-- quarter of what the defaults miss.
create index embeddings_document_embedding_idx on public.embeddings
  using hnsw (embedding extensions.vector_cosine_ops) with (m = 24, ef_construction = 200) where chunk_id is null;
create index embeddings_chunk_embedding_idx on public.embeddings using hnsw (embedding extensions.vector_cosine_ops) where chunk_id is not null;

alter table public.document_chunks enable row level security;
alter table public.embeddings enable row level security;
create policy read_document_chunks on public.document_chunks for select to authenticated
  using ((select tasklens.projects_as('viewer')) <> '{}');
create policy read_embeddings on public.embeddings for select to authenticated
  using ((select tasklens.projects_as('viewer')) <> '{}');

-- The weights of the hybrid search of documents, and the language of projects that name none.

create table public.search_config (
  only_row boolean primary key default true check (only_row),
  similarity_weight double precision not null default 0.50 check (similarity_weight between 0 and 1),
  keyword_weight double precision not null default 0.25 check (keyword_weight between 0 and 1),
  utility_weight double precision not null default 0.15 check (utility_weight between 0 and 1),
  freshness_weight double precision not null default 0.10 check (freshness_weight between 0 and 1),
  evergreen_weight double precision not null default 1.0 check (evergreen_weight between 0 and 1),
  current_weight double precision not null default 1.0 check (current_weight between 0 and 1),
  dated_weight double precision not null default 0.7 check (dated_weight between 0 and 1),
  historical_weight double precision not null default 0.5 check (historical_weight between 0 and 1),
  unknown_weight double precision not null default 1.0 check (unknown_weight between 0 and 1),
  language text not null default 'english',
  -- Keeps every score at or below 1.
  constraint search_config_weights_check check (abs(similarity_weight + keyword_weight + utility_weight + freshness_weight - 1) < 1e-9)
);
comment on table public.search_config is
  'In one row, the weights of search_documents_hybrid, and the language of texts, as Postgres names it, where a project has none.';
create trigger check_language before insert or update of language on public.search_config
  for each row execute function tasklens.check_language();
insert into public.search_config default values;

alter table public.search_config enable row level security;
create policy read_search_config on public.search_config for select to authenticated
  using ((select tasklens.user_id()) is not null);

insert into tasklens.migrations (version) values ('20261127001100');
