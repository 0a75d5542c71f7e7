-- The data of vector search: every text split into chunks, each with its embedding.

create table public.chunks (
  chunk_id uuid primary key default gen_random_uuid(),
  embedding_set smallint not null default 1 check (embedding_set in (1, 2)),
  project_id bigint not null references public.projects on delete cascade,
  ticket_id bigint,
  status_change_id bigint references public.status_changes on delete cascade,
  comment_id bigint references public.comments on delete cascade,
  kind text not null check (kind in ('project', 'ticket', 'status_note', 'comment')),
  position bigint not null,
  text text not null,
  tokens integer not null check (tokens > 0),
  input_hash text not null,
  model text not null,
  embedding extensions.vector(1536) not null,
  created_at timestamptz not null default now(),
  foreign key (ticket_id, project_id) references public.tickets (ticket_id, project_id)
    on update cascade on delete cascade,
  check ((kind = 'project') = (ticket_id is null)),
  check ((kind = 'status_note') = (status_change_id is not null)),
  check ((kind = 'comment') = (comment_id is not null)),
  -- Cosine distance and inner product give the same order only for vectors of equal length.
  constraint chunks_embedding_is_normalised check (abs(extensions.vector_norm(embedding) - 1) < 0.001),
  -- Deferrable, so that one statement can reorder the chunks of a source.
  constraint chunks_source_position_key unique nulls not distinct (project_id, ticket_id, comment_id, position, embedding_set) deferrable initially immediate
)
-- A vacuum repairs the graph of the vector index: some 3 ms of processor time for almost every
-- chunk that stays. With Postgres's default delay of 2 ms that takes a third of a processor for
-- minutes, and the 95th percentile of a search grows by half. With 5 ms it takes a sixth, for twice
-- as long.
with (autovacuum_vacuum_cost_delay = 5);
-- Stored inline: fetching a vector from TOAST storage costs five times as much as comparing it.
alter table public.chunks alter column embedding set storage main;
comment on table public.chunks is 'The embedded chunks of projects, tickets, status notes and comments. ticket_id is null for a project''s own text.';
comment on column public.chunks.embedding_set is 'One of two sets: one serves; the other exists only during a change of the model or the chunking. See tasklens.embedding_sets.';
comment on column public.chunks.comment_id is 'A comment is a separate source: adding one does not change the ticket''s other chunks. Null for a ticket''s own texts.';
comment on column public.chunks.position is 'Order within its source, with gaps for later chunks: the ticket''s own text first, then its notes.';
comment on column public.chunks.text is 'The text of the chunk, without the header that was embedded with it.';
comment on column public.chunks.tokens is 'Length of text in tokens of the model''s tokenizer.';
comment on column public.chunks.input_hash is 'SHA-256 (hex) of what was sent to the model: header and text. " cut" follows if it did not take the end.';

-- For reading a ticket''s chunks, and for the foreign keys.
create index chunks_ticket_id_idx on public.chunks (ticket_id, project_id, comment_id);
create index chunks_status_change_id_idx on public.chunks (status_change_id);
create index chunks_comment_id_idx on public.chunks (comment_id) where comment_id is not null;
-- One graph per set: in a shared one the vectors of two models would be neighbours. ef_construction
-- is twice the default: building takes up to 1.5 times as long, and searches reach the same recall
-- with half the ef_search.
create index chunks_embedding_idx on public.chunks using hnsw (embedding extensions.vector_cosine_ops) with (ef_construction = 128) where embedding_set = 1;
create index chunks_embedding_2_idx on public.chunks using hnsw (embedding extensions.vector_cosine_ops) with (ef_construction = 128) where embedding_set = 2;

alter table public.chunks enable row level security;
revoke all on public.chunks from anon, authenticated, service_role;
grant select, insert, update, delete on public.chunks to service_role;
grant select on public.chunks to authenticated;
create policy read_chunks on public.chunks for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));

insert into tasklens.migrations (version) values ('20261127000400');
