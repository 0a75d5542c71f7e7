-- What a team knows besides its tickets: decisions, runbooks, notes.

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  title text not null check (title ~ '\S' and length(title) <= 500),
  content text not null default '',
  keywords text[] not null default '{}',
  given_keywords text[] not null default '{}',
  named_entities jsonb not null default '[]',
  temporal_class text check (temporal_class in ('evergreen', 'current', 'dated', 'historical', 'unknown')),
  given_temporal_class text check (given_temporal_class in ('evergreen', 'current', 'dated', 'historical', 'unknown')),
  archived boolean not null default false,
  embedding_status text not null default 'pending' check (embedding_status in ('pending', 'complete', 'failed')),
  utility_score double precision not null default 0 check (utility_score >= 0 and utility_score <> 'NaN'),
  retrieval_count bigint not null default 0 check (retrieval_count >= 0),
  last_retrieved_at timestamptz,
  retrieval_queries text[] not null default '{}',
  enriched_at timestamptz,
  enrichment_model text,
  enrichment_attempts integer not null default 0,
  enrichment_error text,
  enrichment_due_at timestamptz not null default clock_timestamp(),
  enrichment_lease_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Objects with a name; whoever writes a type writes a string.
  constraint documents_named_entities_check check (jsonb_typeof(named_entities) = 'array'
    and not named_entities @? '$[*] ? (@.type() != "object" || !exists(@.name) || @.name.type() != "string")'
    and not named_entities @? '$[*].type ? (@.type() != "string" && @.type() != "null")')
)
-- Searches count retrievals: the new row finds room beside the old one, and texts stand elsewhere.
with (fillfactor = 80, toast_tuple_target = 256);
alter table public.documents alter column content set storage external;
comment on table public.documents is 'A document. Age runs from created_at, which a new text leaves as it is.';
comment on column public.documents.keywords is 'What search compares: given_keywords, then those of the enrichment.';
comment on column public.documents.given_keywords is 'The keywords that came with the document. An enrichment adds to them and takes none away.';
comment on column public.documents.named_entities is 'Names in the text, of the enrichment: [{name, type}].';
comment on column public.documents.temporal_class is 'How long the text holds: given_temporal_class, or else what the enrichment says. Null: nobody has said.';
comment on column public.documents.utility_score is 'How useful readers find it, from 0; feedback keeps it within 10.';
comment on column public.documents.retrieval_queries is 'The last 50 different queries that found it, the latest last.';
comment on column public.documents.enriched_at is 'When the present text was enriched. Null: it is still to be.';
comment on column public.documents.enrichment_attempts is 'How often the present text was taken and not given back. A batch that vanishes has used one up.';
comment on column public.documents.enrichment_due_at is 'When it may be taken: at once, after a pause, or when the lease of whoever has taken it runs out.';

-- What search may show.
create index documents_utility_score_idx on public.documents (utility_score desc, id) where not archived and embedding_status = 'complete';
create index documents_created_at_idx on public.documents (created_at desc, id) where not archived and embedding_status = 'complete';
create index documents_enrichment_due_at_idx on public.documents (archived, enrichment_due_at, id) where enriched_at is null;

alter table public.documents enable row level security;
revoke all on public.documents from anon, authenticated;
grant select, insert, update, delete on public.documents to service_role;
-- Documents belong to no project: they are what the whole team knows, for whoever is in some project. Not what others
-- asked for, nor who is at work on the document.
grant select (
  id, title, content, keywords, given_keywords, named_entities, temporal_class, given_temporal_class, archived, embedding_status, utility_score,
  retrieval_count, last_retrieved_at, enriched_at, enrichment_model, enrichment_attempts, enrichment_error, created_at, updated_at
) on public.documents to authenticated;
create policy read_documents on public.documents for select to authenticated
  using ((select private.visible_projects()) <> '{}');

-- A new text is embedded and enriched anew; until then its keywords are better than none.
create function private.touch_document() returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if (new.title, new.content) is distinct from (old.title, old.content) then
    new.embedding_status := 'pending';
    new.enriched_at := null;
    new.enrichment_attempts := 0;
    new.enrichment_error := null;
    new.enrichment_due_at := clock_timestamp();
    new.enrichment_lease_id := null;
  end if;
  if (new.title, new.content, new.keywords, new.named_entities, new.temporal_class, new.archived)
    is distinct from (old.title, old.content, old.keywords, old.named_entities, old.temporal_class, old.archived) then
    new.updated_at := now();
  end if;
  return new;
end
$$;
comment on function private.touch_document() is 'Trigger: a changed text waits to be embedded and enriched; sets updated_at when a row really changed.';
revoke execute on function private.touch_document() from public;

-- Not for the columns that retrieval, feedback and the embedder write.
create trigger touch_document before update of title, content, keywords, named_entities, temporal_class, archived on public.documents
  for each row execute function private.touch_document();
