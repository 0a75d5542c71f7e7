-- An explicit null means unset: supabase-js and other clients send null for columns that one row of
-- a batch omits.

create function private.complete_document() returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  known public.documents;
begin
  if tg_op = 'INSERT' then
    -- An upsert keeps the values of an existing document. The lock keeps them current until the
    -- conflict is detected.
    select d.* into known from public.documents d where d.id = new.id for no key update;
    new.id := coalesce(new.id, gen_random_uuid());
    new.temporal_class := coalesce(new.temporal_class, known.temporal_class);
    -- In an update, null unsets these three; see derive_document and derive_utility.
    new.keywords := coalesce(new.keywords, known.keywords, '{}');
    new.named_entities := coalesce(new.named_entities, known.named_entities, '[]');
    new.utility_score := coalesce(new.utility_score, known.utility_score, 0);
  end if;
  new.content := coalesce(new.content, known.content, '');
  new.archived := coalesce(new.archived, known.archived, false);
  new.given_keywords := coalesce(new.given_keywords, known.given_keywords, '{}');
  new.given_entities := coalesce(new.given_entities, known.given_entities, '[]');
  new.embedding_status := coalesce(new.embedding_status, known.embedding_status, 'pending');
  new.retrieval_count := coalesce(new.retrieval_count, known.retrieval_count, 0);
  new.retrieval_queries := coalesce(new.retrieval_queries, known.retrieval_queries, '{}');
  new.created_at := coalesce(new.created_at, known.created_at, old.created_at, now());
  new.updated_at := coalesce(new.updated_at, known.updated_at, now());
  return new;
end
$$;
comment on function private.complete_document is
  'Trigger: replaces null in a not-null column by the existing document''s value on upsert, or else by the default.';

create trigger complete_document before insert or update of
  content, archived, given_keywords, given_entities, embedding_status, retrieval_count, retrieval_queries, created_at, updated_at on public.documents
  for each row execute function private.complete_document();

insert into private.migrations (version) values ('20260101001808');
