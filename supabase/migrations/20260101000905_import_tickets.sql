-- Imports tickets with their notes and comments.

-- An absent field keeps its value; null or an empty text clears it. Without an import_id rows are
-- matched by key alone.
create function public.upsert_tickets(tickets jsonb, import_id bigint default null, take_over boolean default false)
returns table (key text, ticket_id bigint, project_id bigint, comment_ids bigint[], held_by text)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  our_origin constant text := private.import_origin(upsert_tickets.import_id);
  own jsonb := upsert_tickets.tickets;
begin
  perform private.leave_embedding_to_caller(true);
  if our_origin is not null then
    own := private.own_rows(own, our_origin, upsert_tickets.take_over);
  end if;
  perform private.ensure_statuses(own);
  perform private.ensure_statuses(jsonb_path_query_array(own, 'lax $[*].notes[*]'));

  -- Without created_at a new ticket gets the default. An existing ticket keeps its time.
  insert into public.tickets as t (key, project_id, status_id, name, description, created_at, updated_at,
    assignee, reporter, ticket_type, priority, labels, due_date, resolved_at)
  select g.key, p.project_id, s.status_id, g.name, g.description, coalesce(g.created_at, now()), coalesce(g.updated_at, now()),
    case when g.row ? 'assignee' then nullif(g.row ->> 'assignee', '') else o.assignee end,
    case when g.row ? 'reporter' then nullif(g.row ->> 'reporter', '') else o.reporter end,
    case when g.row ? 'ticket_type' then nullif(g.row ->> 'ticket_type', '') else o.ticket_type end,
    case when g.row ? 'priority' then nullif(g.row ->> 'priority', '') else o.priority end,
    case when g.row ? 'labels' then array(
      select l from jsonb_array_elements_text(case when jsonb_typeof(g.row -> 'labels') = 'null' then '[]' else g.row -> 'labels' end) as l
    ) else coalesce(o.labels, '{}') end,
    case when g.row ? 'due_date' then nullif(g.row ->> 'due_date', '')::date else o.due_date end,
    case when g.row ? 'resolved_at' then nullif(g.row ->> 'resolved_at', '')::timestamptz else o.resolved_at end
  from (
    select distinct on (upper(x.row ->> 'key')) x.row, x.row ->> 'key' as key, x.row ->> 'project_key' as project_key, x.row ->> 'status' as status,
      x.row ->> 'name' as name, x.row ->> 'description' as description, (x.row ->> 'created_at')::timestamptz as created_at,
      (x.row ->> 'updated_at')::timestamptz as updated_at
    from jsonb_array_elements(own) with ordinality as x(row, place)
    order by upper(x.row ->> 'key'), x.place desc
  ) g
  join public.projects p on p.key = g.project_key
  join public.status s on lower(s.name) = lower(g.status)
  left join public.tickets o on upper(o.key) = upper(g.key)
  -- In a fixed order for any plan, so that concurrent imports cannot deadlock.
  order by upper(g.key)
  on conflict (upper(key)) do update
    set project_id = excluded.project_id, status_id = excluded.status_id, name = excluded.name, description = excluded.description,
      assignee = excluded.assignee, reporter = excluded.reporter, ticket_type = excluded.ticket_type, priority = excluded.priority,
      labels = excluded.labels, due_date = excluded.due_date, resolved_at = excluded.resolved_at,
      -- now() marks a row without updated_at, see above. The trigger then sets the time if anything
      -- changed.
      updated_at = case when excluded.updated_at = now() then t.updated_at else excluded.updated_at end
    where (t.project_id, t.status_id, t.name, t.description, t.assignee, t.reporter, t.ticket_type, t.priority, t.labels, t.due_date, t.resolved_at,
        case when excluded.updated_at = now() then now() else t.updated_at end)
      is distinct from (excluded.project_id, excluded.status_id, excluded.name, excluded.description, excluded.assignee, excluded.reporter,
        excluded.ticket_type, excluded.priority, excluded.labels, excluded.due_date, excluded.resolved_at, excluded.updated_at);

  -- A note is identified by its ticket and text. One without text is skipped.
  insert into public.status_changes (ticket_id, status_id, note, created_at)
  select g.ticket_id, s.status_id, g.note, coalesce(g.created_at, now())
  from (
    select distinct on (t.ticket_id, n.row ->> 'note') t.ticket_id, n.row ->> 'note' as note, n.row ->> 'status' as status,
      (n.row ->> 'created_at')::timestamptz as created_at, x.place, n.place as place_within
    from jsonb_array_elements(own) with ordinality as x(row, place)
    join public.tickets t on upper(t.key) = upper(x.row ->> 'key')
    join public.projects p on p.key = x.row ->> 'project_key'
    cross join lateral jsonb_array_elements(coalesce(x.row -> 'notes', '[]')) with ordinality as n(row, place)
    where n.row ->> 'note' ~ '\S'
      and not exists (select 1 from public.status_changes c where c.ticket_id = t.ticket_id and c.note = n.row ->> 'note')
    order by t.ticket_id, n.row ->> 'note', x.place, n.place
  ) g
  left join public.status s on lower(s.name) = lower(g.status)
  order by g.place, g.place_within;

  perform private.upsert_comments(own);
  if our_origin is not null then
    perform private.mark_imported(own, upsert_tickets.import_id, our_origin, upsert_tickets.take_over);
  end if;
  perform private.leave_embedding_to_caller(false);

  return query
  select t.key, t.ticket_id, t.project_id, array(
    select c.comment_id from public.comments c
    where c.ticket_id = t.ticket_id and c.key in (
      select n ->> 'key' from jsonb_array_elements(upsert_tickets.tickets) g,
        jsonb_array_elements(case when jsonb_typeof(g -> 'comments') = 'array' then g -> 'comments' else '[]' end) n
      where upper(g ->> 'key') = upper(t.key))
    order by c.comment_id),
    case when our_origin is not null and private.import_origin(m.import_id) is distinct from our_origin
      then coalesce(private.import_origin(m.import_id), '') end
  from public.tickets t
  left join private.imported_tickets m on m.ticket_id = t.ticket_id
  where upper(t.key) in (select upper(g ->> 'key') from jsonb_array_elements(upsert_tickets.tickets) g);
end
$$;
comment on function public.upsert_tickets is
  'Inserts or updates tickets by key: [{key, project_key, status, status_category, name, description, created_at, updated_at, assignee, reporter, ticket_type, priority, labels, due_date, resolved_at, notes: [{status, note, created_at}], comments: [{key, author, body, created_at, updated_at}], links: [{kind, key, inward}]}]. Omitted fields from updated_at on keep their values, and null clears them. Missing statuses are added; tickets of unknown projects are skipped. Returns the keys of all tickets that were written or unchanged, with their ids and those of the given comments. With an import_id, tickets of projects of another origin are skipped and a ticket of another origin stays unless taken over; held_by is then that origin, empty if the ticket was not imported. link_imported_tickets stores the links. The caller has two minutes to embed them before workers do.';

insert into private.migrations (version) values ('20260101000905');
