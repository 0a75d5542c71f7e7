-- The data of vector search: every text split into chunks, each with its embedding; and their
-- models: which set of chunks is searched, and from which similarity a text counts as relevant.

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
-- A vacuum repairs the graph of the vector index: some 3 ms for almost every chunk that stays. With
-- Postgres's default delay of 2 ms that takes a third of a processor for minutes, and the 95th
-- percentile of a search grows by half. With 5 ms it takes a sixth, for twice as long.
with (autovacuum_vacuum_cost_delay = 5);
-- Stored inline: fetching a vector from TOAST storage costs five times as much as comparing it.
alter table public.chunks alter column embedding set storage main;
comment on table public.chunks is 'The embedded chunks of projects, tickets, status notes and comments. ticket_id is null for a project''s own text.';
comment on column public.chunks.embedding_set is 'One of two sets: one serves; the other exists only during a change of the model or the chunking. See tasklens.embedding_sets.';
comment on column public.chunks.comment_id is 'A comment is a separate source: adding one does not change the ticket''s other chunks. Null for a ticket''s own texts.';
comment on column public.chunks.position is 'Order within its source, with gaps for later chunks: the ticket''s own text first, then its notes.';
comment on column public.chunks.text is 'The text of the chunk, without the header that was embedded with it.';
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
create policy read_chunks on public.chunks for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));

-- The cosine similarity from which a text counts as relevant, measured once per model and vector
-- width on a judged set that comes with the service. It contains no tenant data.

create table tasklens.match_thresholds (
  embedding_model text not null,
  dimensions integer not null check (dimensions > 0),
  match_threshold double precision not null check (match_threshold between 0 and 1),
  right_over double precision not null,
  related_over double precision not null,
  unrelated_over double precision not null,
  unrelated_median double precision not null,
  judged_set text not null,
  measured_at timestamptz not null default now(),
  primary key (embedding_model, dimensions)
);
comment on table tasklens.match_thresholds is 'The measured similarity threshold of each model.';
comment on column tasklens.match_thresholds.dimensions is '1536 for tickets, 768 if documents are compared too.';
comment on column tasklens.match_thresholds.right_over is 'Share of the held-out questions whose right text is over the threshold; related_over: of other texts on the topic, unrelated_over: of texts on other topics.';

create function public.store_match_thresholds(thresholds jsonb)
returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into tasklens.match_thresholds
  select t.*
  from jsonb_array_elements(store_match_thresholds.thresholds) e(value)
  cross join jsonb_populate_record(null::tasklens.match_thresholds, e.value || jsonb_build_object('measured_at', now())) t
  order by t.embedding_model, t.dimensions
  on conflict (embedding_model, dimensions) do update set
    (match_threshold, right_over, related_over, unrelated_over, unrelated_median, judged_set, measured_at) =
    (excluded.match_threshold, excluded.right_over, excluded.related_over, excluded.unrelated_over, excluded.unrelated_median,
      excluded.judged_set, excluded.measured_at)
$$;
comment on function public.store_match_thresholds is
  'Stores measured thresholds: [{embedding_model, dimensions, match_threshold, right_over, related_over, unrelated_over, unrelated_median, judged_set}]. A row for the same model and width is replaced.';

-- The only source of the similarity of unrelated texts, which fusion needs. It contains no tenant
-- data, so every caller may read it.
create function tasklens.unrelated_similarity(embedding_model text) returns double precision
language sql stable security definer set search_path = ''
as $$
  select least(0.99, greatest(0, coalesce(
    (select m.unrelated_median from tasklens.match_thresholds m
      where m.embedding_model = unrelated_similarity.embedding_model and m.dimensions = 1536),
    -- From published vectors. A stored name may end in @ and the requested dimensions.
    case split_part(unrelated_similarity.embedding_model, '@', 1)
      when 'text-embedding-3-small' then 0.14
      when 'text-embedding-3-large' then 0.14
      when 'text-embedding-ada-002' then 0.65
      else 0
    end)))
$$;
comment on function tasklens.unrelated_similarity is
  'The typical cosine similarity of unrelated texts for a model with 1536 dimensions: the measured median, else a published constant, else 0.';

-- Two sets of chunks: one is searched while the other is filled by another model or chunking.
-- Vectors of different sets are never compared. Each set has its own index.

create table tasklens.embedding_sets (
  only_row boolean primary key default true check (only_row),
  serving smallint not null default 1 check (serving in (1, 2)),
  model text,
  chunking integer,
  other_state text not null default 'unused' check (other_state in ('unused', 'building', 'retired')),
  other_model text,
  other_chunking integer,
  began_at timestamptz,
  check (other_state <> 'building' or num_nulls(model, other_model, other_chunking, began_at) = 0)
);
comment on table tasklens.embedding_sets is 'Which set of chunks is searched, and the state of the other one.';
comment on column tasklens.embedding_sets.model is 'The model of the serving set; null until the first switch of sets: the service''s setting applies.';
comment on column tasklens.embedding_sets.other_state is 'building: being filled. retired: to be emptied. unused: empty.';
comment on column tasklens.embedding_sets.other_model is 'The model of the other set: the next one, or the former one until the set is emptied.';
comment on column tasklens.embedding_sets.began_at is 'When building began or was resumed. Sources that were missing then were queued before.';
insert into tasklens.embedding_sets default values;

-- A query embedded just before the switch is answered by the set that it was embedded for. Security
-- definer: callers need no right on the table.
create function tasklens.searched_set(embedding_model text) returns smallint
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select case when s.other_state = 'retired' and s.other_model = searched_set.embedding_model and s.model <> searched_set.embedding_model
      then 3 - s.serving else s.serving end::smallint
    from tasklens.embedding_sets s);
end
$$;
comment on function tasklens.searched_set is 'The set that a query embedded with this model is compared with: the serving one, or the retired one if it has this model.';

create function public.embedding_sets()
returns table (serving smallint, model text, chunking integer, other_state text, other_model text, other_chunking integer, match_thresholds jsonb)
language sql stable rows 1 security definer set search_path = ''
as $$
  select s.serving, s.model, s.chunking, s.other_state, s.other_model, s.other_chunking,
    (select coalesce(jsonb_agg(to_jsonb(t) - 'measured_at' order by t.embedding_model, t.dimensions), '[]') from tasklens.match_thresholds t)
  from tasklens.embedding_sets s
$$;
comment on function public.embedding_sets is
  'The serving set, with its model (null: the service''s setting) and chunking; the state of the other set: unused, building (with other_model and other_chunking, to serve next) or retired (to be emptied); and the rows of match_thresholds as stored.';

insert into tasklens.migrations (version) values ('20261127000400');
