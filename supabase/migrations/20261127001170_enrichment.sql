-- Enrichment: a model reads a document and describes it. Documents are leased like embedding jobs:
-- no transaction stays open while the model works, and two batches never claim the same document.

create function public.claim_enrichments(
  batch_size integer default 10,
  lease_seconds double precision default 60,
  attempt_limit integer default 5
)
returns table (id uuid, title text, content text, attempt integer, lease_id uuid)
language plpgsql volatile rows 10 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  moment constant timestamptz := clock_timestamp();
begin
  return query
    with due as materialized (
      select d.id from public.documents d
      where d.enriched_at is null and d.enrichment_due_at <= moment and d.enrichment_attempts < attempt_limit
      -- Archived documents can wait.
      order by d.archived, d.enrichment_due_at, d.id
      limit tasklens.clamp(batch_size, 10, 1, 100)
      for no key update skip locked
    ), taken as (
      update public.documents d
      set enrichment_attempts = d.enrichment_attempts + 1,
        enrichment_lease_id = gen_random_uuid(),
        enrichment_due_at = moment + make_interval(secs => greatest(0.1, least(3600, lease_seconds)))
      from due
      where d.id = due.id
      returning d.*
    )
    select t.id, t.title, left(coalesce(t.visible_text, t.content), tasklens.text_limit()), t.enrichment_attempts, t.enrichment_lease_id
    from taken t
    order by t.archived, t.created_at, t.id;
  -- A document whose last batch died would otherwise stay unfinished forever.
  update public.documents d
    set enrichment_error = 'Its batch stopped before it was done.', enrichment_lease_id = null
    where d.enriched_at is null and d.enrichment_lease_id is not null and d.enrichment_due_at <= moment and d.enrichment_attempts >= attempt_limit;
end
$$;
comment on function public.claim_enrichments is
  'Claims documents that are due and not enriched, archived ones last, each for lease_seconds. After attempt_limit attempts one is skipped until its text changes or retry_enrichments is called. content is cut at its 200,000th character.';

create function public.store_enrichment(doc_id uuid, lease_id uuid, keywords text[], named_entities jsonb, temporal_class text, model text)
returns boolean
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if cardinality(store_enrichment.keywords) > 15 then
    raise exception 'an enrichment has at most 15 keywords' using errcode = '22023', hint = 'Omit the least specific ones.';
  end if;
  update public.documents d
    set (keywords, enriched_keywords) = (
        select tasklens.combine_keywords(k.given, store_enrichment.keywords, k.removed), tasklens.combine_keywords(k.removed, store_enrichment.keywords, k.given)
        from (select tasklens.combine_keywords('{}', d.keywords, d.enriched_keywords) as given,
          tasklens.combine_keywords('{}', d.enriched_keywords, d.keywords) as removed) k),
      (named_entities, enriched_entities) = (
        select tasklens.combine_items(e.given, store_enrichment.named_entities, e.removed), tasklens.combine_items(e.removed, store_enrichment.named_entities, e.given)
        from (select tasklens.combine_items('[]', d.named_entities, d.enriched_entities) as given,
          tasklens.combine_items('[]', d.enriched_entities, d.named_entities) as removed) e),
      temporal_class = coalesce(d.given_temporal_class, store_enrichment.temporal_class),
      enriched_at = clock_timestamp(),
      enrichment_model = store_enrichment.model,
      enrichment_error = null,
      enrichment_lease_id = null
    where d.id = store_enrichment.doc_id and d.enrichment_lease_id = store_enrichment.lease_id;
  return found;
end
$$;
comment on function public.store_enrichment is
  'Stores a model''s description of a claimed document: at most 15 keywords, and named_entities ([{name, type}]), which replace those found before and follow those given. False if the lease is no longer held, because the text changed.';

create function public.return_enrichments(lease_ids uuid[], error text default null, retry_seconds double precision default 0)
returns bigint
language sql volatile security invoker set search_path = ''
as $$
  with returned as (
    update public.documents d
    set enrichment_lease_id = null,
      enrichment_error = coalesce(left(return_enrichments.error, 1000), d.enrichment_error),
      -- Exponential backoff with 25% jitter, so that documents that failed together are not retried
      -- together.
      enrichment_due_at = clock_timestamp() + make_interval(secs => least(3600, greatest(0, return_enrichments.retry_seconds)
        * case when return_enrichments.error is null then 1 else 2 ^ least(20, d.enrichment_attempts - 1) * (0.75 + random() / 2) end)),
      enrichment_attempts = d.enrichment_attempts - case when return_enrichments.error is null then 1 else 0 end
    where d.enrichment_lease_id = any (return_enrichments.lease_ids)
    returning 1
  )
  select count(*) from returned
$$;
comment on function public.return_enrichments is
  'Ends leases without a result. After an error, a document is due again after retry_seconds, doubled with each attempt up to an hour; without one, the attempt does not count.';

create function public.retry_enrichments()
returns bigint
language sql volatile security invoker set search_path = ''
as $$
  with retried as (
    update public.documents d set enrichment_attempts = 0, enrichment_due_at = clock_timestamp()
    where d.enriched_at is null and d.enrichment_error is not null and d.enrichment_lease_id is null
    returning 1
  )
  select count(*) from retried
$$;
comment on function public.retry_enrichments is 'Makes the documents whose last attempt failed due at once. Returns how many.';

create function public.enrichment_stats()
returns table (total bigint, enriched bigint, unenriched bigint, failed bigint)
language sql stable rows 1 security invoker set search_path = ''
as $$
  select count(*), count(d.enriched_at), count(*) - count(d.enriched_at),
    count(*) filter (where d.enriched_at is null and d.enrichment_error is not null)
  from public.documents d
$$;
comment on function public.enrichment_stats is
  'How many documents there are, with the current text enriched, not enriched, and not enriched because the last attempt failed.';

create function public.list_unenriched_documents(after uuid default null, match_limit integer default 1000)
returns table (id uuid, title text, attempts integer, last_error text)
language sql stable rows 100 security invoker set search_path = ''
as $$
  select d.id, d.title, d.enrichment_attempts, d.enrichment_error
  from public.documents d
  where d.enriched_at is null and (list_unenriched_documents.after is null or d.id > list_unenriched_documents.after)
  order by d.id
  limit tasklens.clamp(list_unenriched_documents.match_limit, 1000, 1, 1000)
$$;
comment on function public.list_unenriched_documents is
  'The documents that enrichment_stats counts as unenriched, by id: how often their text was tried, and the error of the last attempt. after: the last id of the previous page.';

insert into tasklens.migrations (version) values ('20261127001170');
