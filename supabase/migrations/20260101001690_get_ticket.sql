-- One ticket whole: what a reader, or an assistant, opens after a search.

create function public.get_ticket(ticket text)
returns table (
  ticket_id bigint, ticket_key text, ticket_name text, project_id bigint, project_key text, project_name text, status text, status_category text,
  description text, assignee text, reporter text, ticket_type text, priority text, labels text[], due_date date, resolved_at timestamptz,
  created_at timestamptz, updated_at timestamptz, links jsonb, notes jsonb, comments jsonb, comment_count bigint
)
language sql stable rows 1 security invoker set search_path = ''
as $$
  with wanted as (
    -- A key goes before an id of the same digits: it is what people write.
    select t.*, 1 as place from public.tickets t where upper(t.key) = upper(btrim(get_ticket.ticket))
    union all
    select t.*, 2 from public.tickets t
    where t.ticket_id = case when get_ticket.ticket ~ '^[1-9][0-9]{0,17}$' then get_ticket.ticket::bigint end
    order by place
    limit 1
  )
  select t.ticket_id, t.key, t.name, p.project_id, p.key, p.name, s.name, s.category,
    left(t.description, 1000000), t.assignee, t.reporter, t.ticket_type, t.priority, t.labels, t.due_date, t.resolved_at,
    t.created_at, t.updated_at, private.links_of(t.ticket_id), coalesce(n.notes, '[]'), coalesce(c.comments, '[]'), c.total
  from wanted t
  join public.projects p on p.project_id = t.project_id
  join public.status s on s.status_id = t.status_id
  cross join lateral (
    select jsonb_agg(jsonb_build_object('text', left(x.note, 100000), 'created_at', x.created_at) order by x.status_change_id) as notes
    from (
      select h.status_change_id, h.note, h.created_at from public.status_changes h
      where h.ticket_id = t.ticket_id and h.note ~ '\S'
      order by h.status_change_id desc
      limit 100
    ) x
  ) n
  cross join lateral (
    select (select count(*) from public.comments k where k.ticket_id = t.ticket_id) as total,
      jsonb_agg(jsonb_build_object('comment_id', x.comment_id, 'author', x.author, 'text', left(x.body, 100000), 'created_at', x.created_at)
        order by x.created_at, x.comment_id) as comments
    from (
      select k.comment_id, k.author, k.body, k.created_at from public.comments k
      where k.ticket_id = t.ticket_id
      order by k.created_at desc, k.comment_id desc
      limit 100
    ) x
  ) c
$$;
comment on function public.get_ticket(text) is
  'A ticket by its key, in any case, or by its id, with its links, the notes of its status changes and its comments, the oldest first: of each the last 100, 100,000 characters of a text and 1,000,000 of the description; comment_count counts all. No row for an unknown ticket.';
revoke execute on function public.get_ticket(text) from public, anon, authenticated;
grant execute on function public.get_ticket(text) to authenticated, service_role;

insert into private.migrations (version) values ('20260101001690');
