-- Retrieval for answers from tickets and documents together. Documents have 768 dimensions, so
-- everything is compared by the first 768 and against one threshold. For a model trained for
-- truncation, these order tickets nearly as all 1536 do. Candidates are selected with all
-- dimensions, three times as many as can be requested, and ordered by the truncated vectors.

create function public.retrieve_all_chunks(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 20,
  project_filter bigint default null,
  status_filter text default null,
  source_chunk_limit integer default null,
  question text default null,
  filters jsonb default null
)
returns table (
  chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, ticket_key text, ticket_name text, status text,
  document_id uuid, title text, kind text, text text, tokens integer, similarity double precision, over_threshold boolean,
  similarities real[], named boolean, project_key text, comment_id bigint, comment_author text, comment_created_at timestamptz
)
language sql stable rows 20 security invoker set search_path = '' set jit = off
as $$
  with query as materialized (
    select extensions.l2_normalize(extensions.subvector(retrieve_all_chunks.query_embedding, 1, 768)) as embedding
  ), found as materialized (
    select f.* from private.find_chunks(
      -- -2 is below every similarity: the threshold applies to the truncated vectors.
      retrieve_all_chunks.question, retrieve_all_chunks.query_embedding, retrieve_all_chunks.embedding_model, -2,
      retrieve_all_chunks.project_filter, retrieve_all_chunks.status_filter, retrieve_all_chunks.filters, 300, 300) f
  ), candidates as materialized (
    select n.chunk_id, n.ticket_id, n.project_id, null::uuid as document_id,
      coalesce(c.kind, case when n.ticket_id is null then 'project' else 'ticket' end) as kind, c.text, c.tokens, c.comment_id,
      extensions.l2_normalize(extensions.subvector(c.embedding, 1, 768)) as embedding, true as named
    from found n
    left join public.chunks c using (chunk_id)
    where n.named and (n.chunk_id is null or c.chunk_id is not null)
    union all
    select s.chunk_id, s.ticket_id, s.project_id, null, c.kind, c.text, c.tokens, c.comment_id,
      extensions.l2_normalize(extensions.subvector(c.embedding, 1, 768)), false
    from found s
    join public.chunks c using (chunk_id)
    where not s.named and s.chunk_id not in (select n.chunk_id from found n where n.named and n.chunk_id is not null)
    union all
    select d.chunk_id, null, null, d.document_id, 'document', d.text, d.tokens, null, extensions.l2_normalize(e.embedding), false
    from query q
    cross join lateral public.retrieve_document_chunks(q.embedding, retrieve_all_chunks.embedding_model, -2, 100) d
    join public.embeddings e on e.document_id = d.document_id and e.chunk_id = d.chunk_id
  ), compared as materialized (
    select c.*, 1 - (c.embedding operator(extensions.<=>) q.embedding) as similarity
    from candidates c
    cross join query q
    where extensions.vector_norm(c.embedding) > 0 or c.named and c.embedding is null
  ), numbered as (
    select c.*, row_number() over (order by c.similarity desc nulls last, c.chunk_id, c.ticket_id, c.project_id) as place,
      row_number() over (partition by c.ticket_id, c.project_id, c.document_id order by c.similarity desc nulls last, c.chunk_id) as place_in_source
    from compared c
  ), nearest as materialized (
    select n.* from numbered n
    where n.place = 1 or n.named or n.similarity > retrieve_all_chunks.match_threshold
    -- greatest() ignores null.
    order by n.named desc, retrieve_all_chunks.source_chunk_limit is not null and n.place_in_source > greatest(1, retrieve_all_chunks.source_chunk_limit), n.place
    limit private.clamp(retrieve_all_chunks.match_count, 20, 1, 100)
  )
  select n.chunk_id, n.ticket_id, n.project_id, p.name, t.key, t.name, s.name, n.document_id, d.title, n.kind,
    coalesce(n.text, private.beginning_of(coalesce(t.name, p.name), case when t.ticket_id is null then p.description else t.description end)), n.tokens,
    n.similarity, coalesce(n.similarity > retrieve_all_chunks.match_threshold, false),
    array(select coalesce(-(n.embedding operator(extensions.<#>) m.embedding), 0)::real from nearest m where m.place < n.place order by m.place),
    n.named, p.key, m.comment_id, m.author, m.created_at
  from nearest n
  left join public.projects p on p.project_id = n.project_id
  left join public.tickets t on t.ticket_id = n.ticket_id
  left join public.status s on s.status_id = t.status_id
  left join public.documents d on d.id = n.document_id
  left join public.comments m on m.comment_id = n.comment_id
  order by n.place
$$;
comment on function public.retrieve_all_chunks is
  'The chunks of tickets and documents nearest to a question, compared by the first 768 dimensions: those above match_threshold, or else only the nearest one with over_threshold false. Filters apply to tickets, not to documents. With source_chunk_limit, this many chunks of each ticket, project or document come before any further chunk of the same source. similarities[i] is the cosine similarity to row i, 0 if unknown, for the rows before its own. With question, chunks of the tickets and projects that it names are added with named set, whatever their similarity. similarity is null if nothing is embedded, as are chunk_id and tokens; comment_* are null except for a comment''s chunk. match_count at most 100.';

insert into private.migrations (version) values ('20260101001160');
