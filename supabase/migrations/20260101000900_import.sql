-- Imports projects and tickets by their external keys. Repeating an import changes nothing.

-- An importer embeds the rows itself, in batches. The queued jobs are delayed this long, in case it
-- cannot.
create function private.leave_embedding_to_caller(leave boolean) returns void
language sql volatile security invoker set search_path = ''
as $$
  select set_config('tasklens.embedding_delay', case when leave_embedding_to_caller.leave then '2 minutes' else '' end, true)
$$;
comment on function private.leave_embedding_to_caller(boolean) is 'Declares for this transaction whether the writer embeds the rows itself.';
revoke execute on function private.leave_embedding_to_caller(boolean) from public;
grant execute on function private.leave_embedding_to_caller(boolean) to service_role;

create function public.upsert_projects(projects jsonb)
returns table (key text, project_id bigint)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  perform private.leave_embedding_to_caller(true);
  return query
  with given as (
    -- If a key occurs several times, the last row counts.
    select distinct on (g.row ->> 'key') g.row ->> 'key' as key, g.row ->> 'name' as name, g.row ->> 'description' as description
    from jsonb_array_elements(upsert_projects.projects) with ordinality as g(row, place)
    order by g.row ->> 'key', g.place desc
  ), written as (
    insert into public.projects as p (key, name, description)
    select g.key, g.name, g.description from given g
    on conflict (key) do update set name = excluded.name, description = excluded.description
      where (p.name, p.description) is distinct from (excluded.name, excluded.description)
    returning p.key, p.project_id
  )
  select w.key, w.project_id from written w
  union all
  select p.key, p.project_id from public.projects p join given g on g.key = p.key
  where not exists (select 1 from written w where w.key = p.key);
  perform private.leave_embedding_to_caller(false);
end
$$;
comment on function public.upsert_projects(jsonb) is
  'Inserts or updates projects by key: [{key, name, description}]. Returns every key with its project_id. The caller has two minutes to embed them before workers do.';
revoke execute on function public.upsert_projects(jsonb) from public, anon, authenticated;
grant execute on function public.upsert_projects(jsonb) to service_role;

-- Creates missing statuses. An existing category is kept, because it may have been set by hand.
create function private.ensure_statuses(given jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into public.status (name, category)
  select distinct on (lower(g ->> 'status')) g ->> 'status', g ->> 'status_category'
  from jsonb_array_elements(ensure_statuses.given) with ordinality as x(g, place)
  where g ->> 'status' is not null and not exists (select 1 from public.status s where lower(s.name) = lower(g ->> 'status'))
  order by lower(g ->> 'status'), g ->> 'status_category' is null, x.place
  on conflict do nothing
$$;
comment on function private.ensure_statuses(jsonb) is
  'Adds the statuses of [{status, status_category}] that do not exist yet, compared without regard to case. One without a category gets the one its name suggests.';
revoke execute on function private.ensure_statuses(jsonb) from public;
grant execute on function private.ensure_statuses(jsonb) to service_role;

-- Upserts the comments of imported rows by key. A comment without key or text is skipped.
create function private.upsert_comments(tickets jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into public.comments as c (ticket_id, key, author, body, created_at, updated_at)
  select g.ticket_id, g.key, g.author, g.body, coalesce(g.created_at, now()), coalesce(g.updated_at, g.created_at, now())
  from (
    select distinct on (t.ticket_id, n.row ->> 'key') t.ticket_id, n.row ->> 'key' as key, nullif(n.row ->> 'author', '') as author,
      n.row ->> 'body' as body, (n.row ->> 'created_at')::timestamptz as created_at, (n.row ->> 'updated_at')::timestamptz as updated_at,
      x.place, n.place as place_within
    from jsonb_array_elements(upsert_comments.tickets) with ordinality as x(row, place)
    join public.tickets t on upper(t.key) = upper(x.row ->> 'key')
    join public.projects p on p.key = x.row ->> 'project_key'
    cross join lateral jsonb_array_elements(case when jsonb_typeof(x.row -> 'comments') = 'array' then x.row -> 'comments' else '[]' end)
      with ordinality as n(row, place)
    where n.row ->> 'key' ~ '\S' and n.row ->> 'body' ~ '\S'
    order by t.ticket_id, n.row ->> 'key', x.place desc, n.place desc
  ) g
  -- In order of ticket ids, so that concurrent imports cannot deadlock.
  order by g.ticket_id, g.place, g.place_within
  on conflict (ticket_id, key) do update
    set author = excluded.author, body = excluded.body,
      updated_at = case when excluded.updated_at = now() or excluded.updated_at = excluded.created_at then c.updated_at else excluded.updated_at end
    where (c.author, c.body) is distinct from (excluded.author, excluded.body)
      or excluded.updated_at not in (now(), excluded.created_at) and c.updated_at is distinct from excluded.updated_at
$$;
comment on function private.upsert_comments(jsonb) is
  'Inserts or updates the comments of [{key, project_key, comments: [{key, author, body, created_at, updated_at}]}] whose tickets exist. The creation time of an existing comment is kept.';
revoke execute on function private.upsert_comments(jsonb) from public;
grant execute on function private.upsert_comments(jsonb) to service_role;

-- An absent field keeps its value; null or an empty text clears it.
create function public.upsert_tickets(tickets jsonb)
returns table (key text, ticket_id bigint, project_id bigint, comment_ids bigint[])
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  perform private.leave_embedding_to_caller(true);
  perform private.ensure_statuses(upsert_tickets.tickets);
  perform private.ensure_statuses(jsonb_path_query_array(upsert_tickets.tickets, 'lax $[*].notes[*]'));

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
    from jsonb_array_elements(upsert_tickets.tickets) with ordinality as x(row, place)
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
    from jsonb_array_elements(upsert_tickets.tickets) with ordinality as x(row, place)
    join public.tickets t on upper(t.key) = upper(x.row ->> 'key')
    join public.projects p on p.key = x.row ->> 'project_key'
    cross join lateral jsonb_array_elements(coalesce(x.row -> 'notes', '[]')) with ordinality as n(row, place)
    where n.row ->> 'note' ~ '\S'
      and not exists (select 1 from public.status_changes c where c.ticket_id = t.ticket_id and c.note = n.row ->> 'note')
    order by t.ticket_id, n.row ->> 'note', x.place, n.place
  ) g
  left join public.status s on lower(s.name) = lower(g.status)
  order by g.place, g.place_within;

  perform private.upsert_comments(upsert_tickets.tickets);
  perform private.leave_embedding_to_caller(false);

  return query
  select t.key, t.ticket_id, t.project_id, array(
    select c.comment_id from public.comments c
    where c.ticket_id = t.ticket_id and c.key in (
      select n ->> 'key' from jsonb_array_elements(upsert_tickets.tickets) g,
        jsonb_array_elements(case when jsonb_typeof(g -> 'comments') = 'array' then g -> 'comments' else '[]' end) n
      where upper(g ->> 'key') = upper(t.key))
    order by c.comment_id)
  from public.tickets t
  where upper(t.key) in (select upper(g ->> 'key') from jsonb_array_elements(upsert_tickets.tickets) g);
end
$$;
comment on function public.upsert_tickets(jsonb) is
  'Inserts or updates tickets by key: [{key, project_key, status, status_category, name, description, created_at, updated_at, assignee, reporter, ticket_type, priority, labels, due_date, resolved_at, notes: [{status, note, created_at}], comments: [{key, author, body, created_at, updated_at}]}]. Omitted fields from updated_at on keep their values, and null clears them. Missing statuses are added; tickets of unknown projects are skipped. Returns the keys of all tickets that were written or unchanged, with their ids and those of the given comments. The caller has two minutes to embed them before workers do.';
revoke execute on function public.upsert_tickets(jsonb) from public, anon, authenticated;
grant execute on function public.upsert_tickets(jsonb) to service_role;

insert into private.migrations (version) values ('20260101000900');
