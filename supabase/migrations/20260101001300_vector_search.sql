-- Vector search.

create function private.nearest_sources(
  query_embedding extensions.vector,
  embedding_model text,
  match_threshold double precision,
  match_count integer,
  project_filter bigint,
  status_filter text,
  required tsquery default null,
  excluded tsquery default null,
  excluded_tickets bigint[] default null,
  filters jsonb default null
)
returns table (rank bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision)
language plpgsql volatile rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  with best as (
    select distinct on (s.ticket_id, s.project_id) s.project_id, s.ticket_id, s.chunk_id, s.similarity
    from private.scan_chunks(
      nearest_sources.query_embedding, nearest_sources.embedding_model, nearest_sources.project_filter,
      nearest_sources.status_filter, nearest_sources.match_threshold,
      -- Enough chunks that a long ticket with hundreds of them leaves room for others.
      10000, private.clamp(nearest_sources.match_count, 10, 1, 1000),
      nearest_sources.required, nearest_sources.excluded, nearest_sources.excluded_tickets, nearest_sources.filters
    ) s
    where s.similarity > nearest_sources.match_threshold
    order by s.ticket_id, s.project_id, s.similarity desc, s.chunk_id
  )
  select row_number() over (order by b.similarity desc, b.ticket_id nulls last, b.project_id) as rank,
    b.project_id, b.ticket_id, b.chunk_id, b.similarity
  from best b
  order by 1
  limit private.clamp(nearest_sources.match_count, 10, 1, 1000);
end
$$;
comment on function private.nearest_sources is
  'search_by_vector among texts with the required words and without the excluded ones, see scan_chunks.';

create function public.search_by_vector(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 10,
  project_filter bigint default null,
  status_filter text default null,
  filters jsonb default null
)
returns table (rank bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision)
language plpgsql volatile rows 300 security invoker set search_path = ''
as $$
begin
  return query
  select n.rank, n.project_id, n.ticket_id, n.chunk_id, n.similarity
  from private.nearest_sources(
    search_by_vector.query_embedding, search_by_vector.embedding_model, search_by_vector.match_threshold, search_by_vector.match_count,
    search_by_vector.project_filter, search_by_vector.status_filter, filters => search_by_vector.filters) n;
end
$$;
comment on function public.search_by_vector is
  'Tickets and projects (ticket_id null) by the cosine similarity of their best chunk, strictly over match_threshold. Only chunks of embedding_model are compared. At most 1,000.';

-- A vector rank of 100 adds 1/160 to a score, less than half of what rank 1 adds, so such a row
-- ranks behind every good result. Without filters, the index's first batch usually contains 100.
create function private.vector_candidates() returns integer
language sql immutable security invoker set search_path = ''
return 100;
comment on function private.vector_candidates is 'How many tickets and projects a hybrid search takes from vector search, for any page.';

insert into private.migrations (version) values ('20260101001300');
