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
comment on table public.document_chunks is 'The chunks of documents, in order.';
comment on column public.document_chunks.position is 'Order among the chunks of its document, with gaps for later chunks.';
comment on column public.document_chunks.text is 'The text of the chunk, without the header that was embedded with it.';
comment on column public.document_chunks.input_hash is 'SHA-256 (hex) of what was sent to the model: header and text. " cut" follows if it did not take the end.';

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
revoke all on public.document_chunks, public.embeddings from anon, authenticated, service_role;
revoke all on sequence public.embeddings_embedding_id_seq from anon, authenticated, service_role;
grant select, insert, update, delete on public.document_chunks, public.embeddings to service_role;
grant select on public.document_chunks, public.embeddings to authenticated;
create policy read_document_chunks on public.document_chunks for select to authenticated
  using ((select tasklens.projects_as('viewer')) <> '{}');
create policy read_embeddings on public.embeddings for select to authenticated
  using ((select tasklens.projects_as('viewer')) <> '{}');

insert into tasklens.migrations (version) values ('20261127001110');
