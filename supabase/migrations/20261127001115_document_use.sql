-- How useful documents are: votes and retrievals.

-- Votes on the usefulness of documents. A user has one vote per document; the service can vote any
-- number of times. The score depends only on the numbers of votes, so order does not matter and a
-- changed or deleted vote is fully undone.

create table public.document_votes (
  vote_id bigint generated always as identity primary key,
  document_id uuid not null references public.documents on delete cascade,
  user_id uuid,
  helpful boolean not null,
  voted_at timestamptz not null default now(),
  unique (document_id, user_id)
);
comment on table public.document_votes is 'Whether readers found documents helpful. To forget a user''s votes, delete their rows: the scores follow.';
comment on column public.document_votes.user_id is 'The user''s id in Supabase Auth. Null: a vote of the service, each of which counts.';
create index document_votes_user_id_idx on public.document_votes (user_id) where user_id is not null;

alter table public.document_votes enable row level security;
create policy read_votes on public.document_votes for select to authenticated
  using (user_id = (select tasklens.user_id()));
create policy insert_votes on public.document_votes for insert to authenticated
  with check (user_id = (select tasklens.user_id()) and (select tasklens.projects_as('viewer')) <> '{}');
create policy update_votes on public.document_votes for update to authenticated
  using (user_id = (select tasklens.user_id()))
  with check (user_id = (select tasklens.user_id()) and (select tasklens.projects_as('viewer')) <> '{}');
create policy delete_votes on public.document_votes for delete to authenticated
  using (user_id = (select tasklens.user_id()));

-- Security definer: readers may vote but not write documents. Its triggers are in follow_documents.
create function tasklens.count_votes() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  rated uuid[]; -- documents
begin
  if tg_op = 'TRUNCATE' then
    rated := array(select d.id from public.documents d where d.helpful_votes > 0 or d.unhelpful_votes > 0);
  end if;
  if tg_op in ('UPDATE', 'DELETE') then
    rated := array(select o.document_id from old_rows o);
  end if;
  if tg_op in ('INSERT', 'UPDATE') then
    rated := rated || array(select n.document_id from new_rows n);
  end if;
  -- In order of ids, like track_document_retrievals. Counted once they are locked, so that no vote
  -- is missed.
  perform from public.documents d where d.id = any (rated) order by d.id for no key update;
  update public.documents d
  set (helpful_votes, unhelpful_votes) = (
    select count(*) filter (where v.helpful), count(*) filter (where not v.helpful) from public.document_votes v where v.document_id = d.id)
  where d.id = any (rated);
  return null;
end
$$;
comment on function tasklens.count_votes is 'Trigger: counts the votes of documents again.';

create function public.rate_document(doc_id uuid, helpful boolean)
returns double precision
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  insert into public.document_votes as v (document_id, user_id, helpful)
  select d.id, case when not tasklens.is_unrestricted() then tasklens.user_id() end, rate_document.helpful
  from public.documents d
  where d.id = rate_document.doc_id and rate_document.helpful is not null
  on conflict (document_id, user_id) do update set helpful = excluded.helpful where v.helpful <> excluded.helpful;
  return (select d.utility_score from public.documents d where d.id = rate_document.doc_id and rate_document.helpful is not null);
exception
  -- The document was deleted concurrently.
  when foreign_key_violation then return null;
end
$$;
comment on function public.rate_document is
  'Votes on a document as the caller: a user''s vote replaces their earlier one, each vote of the service counts. Returns the new utility_score, null if the document does not exist.';

-- Rows are locked in order of ids, so that concurrent searches cannot deadlock. A session that
-- waited sees the other one's update, so no count is lost.
create function public.track_document_retrievals(doc_ids uuid[], query_text text)
returns void
language sql volatile security invoker set search_path = ''
as $$
  with found as materialized (
    select d.id from public.documents d where d.id = any (track_document_retrievals.doc_ids) order by d.id for no key update
  ), query as (
    select left(track_document_retrievals.query_text, 200) as text
  )
  update public.documents d
  set retrieval_count = d.retrieval_count + 1,
    last_retrieved_at = greatest(d.last_retrieved_at, now()),
    retrieval_queries = case when q.text ~ '\S' then (
        select array_agg(l.text order by l.place)
        from (
          select x.text, x.place
          from unnest(array_remove(d.retrieval_queries, q.text) || q.text) with ordinality as x(text, place)
          order by x.place desc
          limit 50
        ) l)
      else d.retrieval_queries end
  from found f
  cross join query q
  where d.id = f.id
$$;
comment on function public.track_document_retrievals is
  'Counts one retrieval of each document and stores its time and the last 50 distinct queries, each cut to 200 characters.';

create function public.track_document_retrieval(doc_id uuid, query_text text)
returns void
language sql volatile security invoker set search_path = ''
as $$
  select public.track_document_retrievals(array[track_document_retrieval.doc_id], track_document_retrieval.query_text)
$$;
comment on function public.track_document_retrieval is 'Counts the retrieval of one document; see track_document_retrievals.';

insert into tasklens.migrations (version) values ('20261127001115');
