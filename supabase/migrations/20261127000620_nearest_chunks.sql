-- For comparing vectors in the SQL editor: chunks of the serving set, nearest first.

-- Security definer: users have no right on the sets.
create function tasklens.serving_model() returns text
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select coalesce(s.model, (
      select mode() within group (order by c.model)
      from (select c.model from public.chunks c where c.embedding_set = s.serving limit 1000) c))
    from tasklens.embedding_sets s);
end
$$;
comment on function tasklens.serving_model is 'The model of the serving set; if undecided, the most frequent one of a thousand of its chunks. Null without chunks.';

create function public.nearest_chunks(
  query_embedding extensions.vector(1536),
  match_count integer default 10,
  project_filter bigint default null,
  status_filter text default null,
  filters jsonb default null
)
returns table (similarity double precision, project_id bigint, ticket_id bigint, ticket_key text, kind text, text text, chunk_id uuid)
language plpgsql stable rows 10 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  wanted constant integer := tasklens.clamp(match_count, 10, 1, 1000);
  all_filters constant jsonb := tasklens.check_arguments(
    nearest_chunks.filters, nearest_chunks.query_embedding, coalesce(tasklens.serving_model(), ''),
    project_filter => nearest_chunks.project_filter, status_filter => nearest_chunks.status_filter);
begin
  return query
  select s.similarity, c.project_id, c.ticket_id, t.key, c.kind, c.text, c.chunk_id
  from tasklens.find_chunks(
    null, nearest_chunks.query_embedding, tasklens.serving_model(), -2, all_filters, wanted, wanted) s
  join public.chunks c on c.chunk_id = s.chunk_id
  left join public.tickets t on t.ticket_id = c.ticket_id
  order by s.similarity desc, c.chunk_id
  limit wanted;
end
$$;
comment on function public.nearest_chunks is
  'The chunks nearest to a vector that the caller may see, by cosine similarity, of the set and the model that search uses. Filters apply before ranking. match_count at most 1,000.';

insert into tasklens.migrations (version) values ('20261127000620');
