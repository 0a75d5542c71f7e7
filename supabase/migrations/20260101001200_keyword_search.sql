-- Search by words.

create function public.search_by_keyword(
  query_text text,
  match_count integer default 10,
  project_filter bigint default null,
  status_filter text default null
)
returns table (rank bigint, project_id bigint, ticket_id bigint, score double precision, exact boolean)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  query record := private.parse_query(query_text);
  status_id bigint;
begin
  if status_filter is not null then
    select s.status_id into status_id from public.status s where lower(s.name) = lower(status_filter);
    if status_id is null then
      return;
    end if;
  end if;

  return query execute '
    with named as (
      select t.project_id, t.ticket_id from public.tickets t
      where upper(t.key) = any ($1) and ($5 is null or t.project_id = $5) and ($6 is null or t.status_id = $6)
        and ($4 is null or not exists (
          select 1 from public.keyword_entries e where e.ticket_id = t.ticket_id and e.words @@ $4))
    ), matching as (
      select e.project_id, e.ticket_id, ts_rank(''{0.1, 0.2, 0.4, 1.0}'', e.words, $2)::double precision as score
      from public.keyword_entries e
      where e.words @@ $2 and ($3 is null or e.words @@ $3) and ($4 is null or not e.words @@ $4)
        and ($5 is null or e.project_id = $5)
        and ($6 is null or (select t.status_id from public.tickets t where t.ticket_id = e.ticket_id) = $6)
    ), listed as (
      select coalesce(n.project_id, m.project_id) as project_id, coalesce(n.ticket_id, m.ticket_id) as ticket_id,
        coalesce(m.score, 0) as score, n.ticket_id is not null as exact
      from matching m full join named n on n.ticket_id = m.ticket_id
    )
    select row_number() over (order by l.exact desc, l.score desc, l.ticket_id nulls last, l.project_id),
      l.project_id, l.ticket_id, l.score, l.exact
    from listed l
    order by 1
    limit $7'
  using query.ticket_keys, query.wanted, query.required, query.excluded, project_filter, status_id,
    greatest(1, least(1000, match_count));
end
$$;
comment on function public.search_by_keyword(text, integer, bigint, text) is
  'Tickets and projects (ticket_id null) by full-text rank: any of the words counts, "phrases" must occur, -words must not; tickets whose key the query names come first, exact. At most 1,000.';
revoke execute on function public.search_by_keyword(text, integer, bigint, text) from public, anon, authenticated;
grant execute on function public.search_by_keyword(text, integer, bigint, text) to service_role;
