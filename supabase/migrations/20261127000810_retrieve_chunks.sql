-- Retrieval for answers: the nearest chunks, and those of what a question names.

create function tasklens.find_chunks(
  question text, query_embedding extensions.vector, embedding_model text, match_threshold double precision,
  filters jsonb, chunk_limit integer, source_limit integer
)
returns table (chunk_id uuid, project_id bigint, ticket_id bigint, similarity double precision, named boolean)
language plpgsql stable rows 100 security definer set search_path = '' set jit = off set plan_cache_mode = auto
as $$
#variable_conflict use_column
declare
  search constant tasklens.search := tasklens.begin_search(
    null, find_chunks.filters, find_chunks.query_embedding, find_chunks.embedding_model, find_chunks.match_threshold);
begin
  return query
  with named as materialized (
    select n.* from tasklens.named_chunks(search, find_chunks.question) n
  )
  select n.*, true from named n
  union all
  select s.*, false from tasklens.scan_chunks(search, find_chunks.chunk_limit, find_chunks.source_limit, true) s
  where s.chunk_id not in (select n.chunk_id from named n where n.chunk_id is not null);
end
$$;
comment on function tasklens.find_chunks is 'The chunks nearest to a question, as from scan_chunks, and those that it names (named), in what the caller may see.';

-- Documents have 768 dimensions, so where they are asked, everything is compared by the first 768
-- and against one threshold: a model trained for truncation orders tickets nearly as by all 1536.
-- Of tickets, three times as many chunks as can be requested are found with all dimensions.
create function public.retrieve_chunks(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 20,
  source_chunk_limit integer default null,
  question text default null,
  filters jsonb default null,
  corpus text default 'tickets'
)
returns table (
  chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, project_key text, ticket_key text, ticket_name text, status text,
  document_id uuid, title text, kind text, text text, tokens integer, similarity double precision, over_threshold boolean, similarities real[],
  named boolean, comment jsonb, fields jsonb,
  written_at timestamptz, note_status text
)
-- Planning takes longer than looking up the rows, so the plan is cached, as in search_hybrid.
language plpgsql stable rows 20 security invoker set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  all_filters constant jsonb := tasklens.check_arguments(retrieve_chunks.filters, retrieve_chunks.query_embedding, retrieve_chunks.embedding_model);
  wanted constant integer := tasklens.clamp(match_count, 20, 1, 100);
  -- Each source has as many chunks as this before any has more.
  of_each constant integer := greatest(1, coalesce(retrieve_chunks.source_chunk_limit, 10000));
  is_short constant boolean := retrieve_chunks.corpus is distinct from 'tickets';
  asked extensions.vector := retrieve_chunks.query_embedding;
begin
  if retrieve_chunks.corpus is null or retrieve_chunks.corpus not in ('tickets', 'documents', 'all') then
    raise exception 'corpus is "%"', left(retrieve_chunks.corpus, 40) using errcode = '22023', hint = 'Use tickets, documents or all.';
  end if;
  if is_short then
    asked := extensions.l2_normalize(extensions.subvector(asked, 1, 768));
  end if;
  return query
  with found as (
    select f.chunk_id, f.ticket_id, f.project_id, null::uuid as document_id, f.named,
      case when is_short and f.chunk_id is not null
        then (select 1 - (extensions.subvector(c.embedding, 1, 768) operator(extensions.<=>) asked) from public.chunks c where c.chunk_id = f.chunk_id)
        else f.similarity end as similarity
    from tasklens.find_chunks(
      retrieve_chunks.question, retrieve_chunks.query_embedding, retrieve_chunks.embedding_model,
      -- -2 is below every similarity: the threshold applies to the shortened vectors.
      case when is_short then -2 else retrieve_chunks.match_threshold end,
      all_filters,
      -- If several sources are wanted, read past the hundreds of chunks of a long ticket.
      case when is_short then 300 when retrieve_chunks.source_chunk_limit is null then wanted else 10000 end,
      case when is_short then 300 else wanted end) f
    where retrieve_chunks.corpus <> 'documents'
    union all
    (select d.chunk_id, null, null, d.document_id, false, d.similarity
    from tasklens.scan_embeddings(asked, retrieve_chunks.embedding_model, -2, 100, true) d
    where is_short order by d.similarity desc, d.chunk_id limit 100)
  ), numbered as (
    select f.*, row_number() over (order by f.similarity desc nulls last, f.chunk_id, f.ticket_id, f.project_id) as place,
      row_number() over (partition by f.ticket_id, f.project_id, f.document_id order by f.similarity desc nulls last, f.chunk_id) as place_in_source
    from found f
    -- A vector that is zero in these dimensions has no similarity.
    where f.similarity <> 'NaN' or f.named and f.chunk_id is null
  ), nearest as (
    select n.* from numbered n
    where n.place = 1 or n.named or n.similarity > retrieve_chunks.match_threshold
    order by n.named desc, n.place_in_source > of_each, n.place
    limit wanted
  ), listed as materialized (
    select n.*, c.kind, coalesce(c.text, x.text) as text, coalesce(c.tokens, x.tokens) as tokens, c.comment_id, c.status_change_id,
      -- Normalised, so that the inner product is the cosine, at half the cost. Materialised: a
      -- TOASTed vector would be decompressed for every pair, which costs more than comparing.
      extensions.l2_normalize(coalesce(e.embedding, case when is_short then extensions.subvector(c.embedding, 1, 768) else c.embedding end)) as embedding
    from nearest n
    left join public.chunks c on c.chunk_id = n.chunk_id and n.document_id is null
    left join public.document_chunks x on x.chunk_id = n.chunk_id and x.document_id = n.document_id
    left join public.embeddings e on e.document_id = n.document_id and e.chunk_id = n.chunk_id
  )
  select n.chunk_id, n.ticket_id, n.project_id, p.name, p.key, t.key, t.name, s.name, n.document_id, d.title,
    coalesce(n.kind, case when n.document_id is not null then 'document' when n.ticket_id is null then 'project' else 'ticket' end),
    -- The beginning of what is named and not embedded yet.
    coalesce(n.text, left(concat_ws(e'\n\n', coalesce(t.name, p.name), nullif(case when n.ticket_id is null then coalesce(p.visible_text, p.description)
      else coalesce(t.visible_text, t.description) end, '')), 2000)),
    n.tokens, n.similarity, coalesce(n.similarity > retrieve_chunks.match_threshold, false),
    -- These let the caller apply MMR without the vectors.
    array(select coalesce(-(n.embedding operator(extensions.<#>) m.embedding), 0)::real from listed m where m.place < n.place order by m.place),
    n.named, case when m.comment_id is not null then jsonb_build_object('comment_id', m.comment_id, 'author', m.author, 'created_at', m.created_at) end,
    k.fields, coalesce(m.created_at, h.created_at, d.updated_at), o.name
  from listed n
  left join public.projects p on p.project_id = n.project_id
  left join public.tickets t on t.ticket_id = n.ticket_id
  left join (
    select i.ticket_id, tasklens.ticket_fields(i.ticket_id) as fields from (select distinct l.ticket_id from listed l) i where i.ticket_id is not null
  ) k on k.ticket_id = n.ticket_id
  left join public.status s on s.status_id = t.status_id
  left join public.documents d on d.id = n.document_id
  left join public.comments m on m.comment_id = n.comment_id
  left join public.status_changes h on h.status_change_id = n.status_change_id
  left join public.status o on o.status_id = h.status_id
  order by n.place;
end
$$;
comment on function public.retrieve_chunks is
  'The chunks nearest to a question: those over match_threshold, else only the nearest one with over_threshold false. corpus: tickets (with projects), documents, or all, of which the last two compare the first 768 dimensions. Filters apply to tickets alone. source_chunk_limit: this many chunks of each ticket, project or document come before any further one. question: chunks of what it names are added with named set, whatever their similarity. similarities[i]: the cosine similarity to row i, for the rows before its own; 0 if unknown. similarity, chunk_id and tokens are null if nothing is embedded. comment and fields: as in search_hybrid. written_at: the time of a comment, a note or a documents last change; note_status: what a note set. match_count at most 100.';

insert into tasklens.migrations (version) values ('20261127000810');
