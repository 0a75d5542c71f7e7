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
  similarities real[], named boolean, project_key text, comment_id bigint, comment_author text, comment_created_at timestamptz, fields jsonb
)
language plpgsql stable rows 20 security invoker set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  all_filters constant jsonb := tasklens.check_arguments(
    retrieve_all_chunks.filters, retrieve_all_chunks.query_embedding, retrieve_all_chunks.embedding_model,
    project_filter => retrieve_all_chunks.project_filter, status_filter => retrieve_all_chunks.status_filter);
  query constant extensions.vector := extensions.l2_normalize(extensions.subvector(retrieve_all_chunks.query_embedding, 1, 768));
begin
  return query
  select d.chunk_id, d.ticket_id, d.project_id, d.project_name, d.ticket_key, d.ticket_name, d.status, d.document_id, d.title, d.kind, d.text, d.tokens,
    d.similarity, coalesce(d.similarity > retrieve_all_chunks.match_threshold, false), d.similarities, d.named, d.project_key, d.comment_id,
    d.comment_author, d.comment_created_at, d.fields
  from tasklens.describe_chunks(array(
    with found as materialized (
      select f.* from tasklens.find_chunks(
        -- -2 is below every similarity: the threshold applies to the truncated vectors.
        retrieve_all_chunks.question, retrieve_all_chunks.query_embedding, retrieve_all_chunks.embedding_model, -2,
        all_filters, 300, 300) f
    ), compared as materialized (
      select f.chunk_id, f.ticket_id, f.project_id, null::uuid as document_id, f.named,
        1 - (extensions.subvector(c.embedding, 1, 768) operator(extensions.<=>) query) as similarity
      from found f
      left join public.chunks c using (chunk_id)
      where f.named or f.chunk_id not in (select n.chunk_id from found n where n.named and n.chunk_id is not null)
      union all
      select d.chunk_id, null, null, d.document_id, false, d.similarity
      from public.retrieve_document_chunks(query, retrieve_all_chunks.embedding_model, -2, 100) d
    ), numbered as (
      select c.*, row_number() over (order by c.similarity desc nulls last, c.chunk_id, c.ticket_id, c.project_id) as place,
        row_number() over (partition by c.ticket_id, c.project_id, c.document_id order by c.similarity desc nulls last, c.chunk_id) as place_in_source
      from compared c
      -- A vector that is zero in these dimensions has no similarity.
      where c.similarity <> 'NaN' or c.named and c.chunk_id is null
    ), nearest as (
      select n.* from numbered n
      where n.place = 1 or n.named or n.similarity > retrieve_all_chunks.match_threshold
      -- greatest() ignores null.
      order by n.named desc, retrieve_all_chunks.source_chunk_limit is not null and n.place_in_source > greatest(1, retrieve_all_chunks.source_chunk_limit), n.place
      limit tasklens.clamp(retrieve_all_chunks.match_count, 20, 1, 100)
    )
    select row(n.chunk_id, n.ticket_id, n.project_id, n.document_id, n.similarity, null, n.named)::tasklens.retrieved
    from nearest n
    order by n.place
  ), retrieve_all_chunks.embedding_model, 768) d;
end
$$;
comment on function public.retrieve_all_chunks is
  'The chunks of tickets and documents nearest to a question, as from retrieve_chunks, compared by the first 768 dimensions. Filters apply to tickets, not to documents.';

insert into tasklens.migrations (version) values ('20261127001160');
