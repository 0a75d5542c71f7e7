-- Search by meaning.

create function public.search_by_vector(
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 10,
  project_filter bigint default null,
  status_filter text default null
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
      search_by_vector.query_embedding, search_by_vector.embedding_model, search_by_vector.project_filter,
      search_by_vector.status_filter, search_by_vector.match_threshold,
      -- So many chunks that the hundreds of a long ticket leave room for others.
      10000, greatest(1, least(1000, search_by_vector.match_count))
    ) s
    where s.similarity > search_by_vector.match_threshold
    order by s.ticket_id, s.project_id, s.similarity desc, s.chunk_id
  )
  select row_number() over (order by b.similarity desc, b.ticket_id nulls last, b.project_id) as rank,
    b.project_id, b.ticket_id, b.chunk_id, b.similarity
  from best b
  order by 1
  limit greatest(1, least(1000, search_by_vector.match_count));
end
$$;
comment on function public.search_by_vector(extensions.vector, text, double precision, integer, bigint, text) is
  'Tickets and projects (ticket_id null) by the cosine similarity of their best chunk, strictly over match_threshold. Only chunks of embedding_model are compared. At most 1,000.';
revoke execute on function public.search_by_vector(extensions.vector, text, double precision, integer, bigint, text) from public, anon, authenticated;
grant execute on function public.search_by_vector(extensions.vector, text, double precision, integer, bigint, text) to authenticated, service_role;

-- What is a hundredth by meaning, and not found by the words, adds 1/160 to its score, less than half of what a first one adds:
-- it comes behind all that is worth a look. And without a filter so many come out of the first batch that the index gives, as
-- a rule.
create function private.vector_candidates() returns integer
language sql immutable security invoker set search_path = ''
return 100;
comment on function private.vector_candidates() is 'How many tickets and projects a hybrid search takes from the vector search, whatever page is asked for.';
revoke execute on function private.vector_candidates() from public;
