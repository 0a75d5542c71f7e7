-- One ticket with everything that belongs to it.

-- Security definer, because under row-level security upper() cannot use an index. It reads only
-- what the caller may see.
create function private.find_ticket(key text) returns bigint
language plpgsql stable security definer set search_path = ''
as $$
declare
  visible constant bigint[] := private.visible_projects();
begin
  return (
    select t.ticket_id from public.tickets t
    where upper(t.key) = upper(find_ticket.key) and (visible is null or t.project_id = any (visible)));
end
$$;
comment on function private.find_ticket(text) is 'The id of the ticket with this key, without regard to case; null if there is none that the caller may see.';
revoke execute on function private.find_ticket(text) from public;
grant execute on function private.find_ticket(text) to authenticated, service_role;

create function public.get_ticket(
  ticket_id bigint default null,
  ticket_key text default null,
  comment_limit integer default 20,
  comment_offset integer default 0
)
returns table (
  ticket_id bigint, ticket_key text, ticket_name text, project_id bigint, project_key text, project_name text, status text, status_category text,
  description text, assignee text, reporter text, ticket_type text, priority text, labels text[], due_date date,
  resolved_at timestamptz, created_at timestamptz, updated_at timestamptz,
  links jsonb, status_changes jsonb, comment_count bigint, comments jsonb
)
language sql stable rows 1 security invoker set search_path = ''
as $$
  select t.ticket_id, t.key, t.name, p.project_id, p.key, p.name, s.name, s.category,
    t.description, t.assignee, t.reporter, t.ticket_type, t.priority, t.labels, t.due_date,
    t.resolved_at, t.created_at, t.updated_at,
    private.links_of(t.ticket_id), changes.list,
    (select count(*) from public.comments c where c.ticket_id = t.ticket_id), page.list
  from public.tickets t
  join public.projects p on p.project_id = t.project_id
  join public.status s on s.status_id = t.status_id
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object('status', x.status, 'note', x.note, 'created_at', x.created_at)
      order by x.status_change_id), '[]') as list
    from (
      select h.status_change_id, n.name as status, h.note, h.created_at
      from public.status_changes h
      left join public.status n on n.status_id = h.status_id
      where h.ticket_id = t.ticket_id
      order by h.status_change_id desc
      limit 100
    ) x
  ) changes
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object(
      'comment_id', x.comment_id, 'author', x.author, 'body', x.body, 'created_at', x.created_at, 'updated_at', x.updated_at)
      order by x.created_at, x.comment_id), '[]') as list
    from (
      select c.comment_id, c.author, c.body, c.created_at, c.updated_at
      from public.comments c
      where c.ticket_id = t.ticket_id
      order by c.created_at, c.comment_id
      limit private.clamp(get_ticket.comment_limit, 20, 1, 100)
      offset greatest(0, get_ticket.comment_offset)
    ) x
  ) page
  where t.ticket_id = coalesce(get_ticket.ticket_id, private.find_ticket(get_ticket.ticket_key))
$$;
comment on function public.get_ticket(bigint, text, integer, integer) is
  'A ticket by its id, or by its key without regard to case, with at most 20 links, its last 100 changes of status and a page of its comments, each oldest first; comment_count counts them all. comment_limit at most 100. No row if there is none that the caller may see.';
revoke execute on function public.get_ticket(bigint, text, integer, integer) from public, anon, authenticated;
grant execute on function public.get_ticket(bigint, text, integer, integer) to authenticated, service_role;

insert into private.migrations (version) values ('20260101001710');
