-- Loading projects and tickets from elsewhere, by their outside keys. Repeating a load changes nothing.

-- Whoever loads rows embeds them as well, in batches of its own. The jobs that the rows leave in the queue wait so long,
-- in case it cannot.
create function private.leave_embedding_to_caller(leave boolean) returns void
language sql volatile security invoker set search_path = ''
as $$
  select set_config('tasklens.embedding_delay', case when leave_embedding_to_caller.leave then '2 minutes' else '' end, true)
$$;
comment on function private.leave_embedding_to_caller(boolean) is 'Says for this transaction whether what it writes is embedded by whoever writes it.';
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
    -- Of several rows with one key the last counts.
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
  'Inserts or updates projects by key: [{key, name, description}]. Returns every key with its project_id. The caller has two minutes to embed them itself, then workers do.';
revoke execute on function public.upsert_projects(jsonb) from public, anon, authenticated;
grant execute on function public.upsert_projects(jsonb) to service_role;

-- Statuses are made as they are met. The category that a tracker gives counts before the one that the name suggests.
create function private.ensure_statuses(statuses jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into public.status as s (name, category)
  select distinct on (lower(g.row ->> 'name')) g.row ->> 'name', g.row ->> 'category'
  from jsonb_array_elements(ensure_statuses.statuses) as g(row)
  where g.row ->> 'name' is not null and not exists (
    select 1 from public.status k
    where lower(k.name) = lower(g.row ->> 'name') and (g.row ->> 'category' is null or k.category = g.row ->> 'category'))
  order by lower(g.row ->> 'name'), g.row ->> 'category' nulls last, g.row ->> 'name' collate "C"
  on conflict (lower(name)) do update set category = excluded.category
$$;
comment on function private.ensure_statuses(jsonb) is
  'Adds the statuses that do not exist yet, compared without regard to case: [{name, category}]. A category that is given is written to those that exist.';
revoke execute on function private.ensure_statuses(jsonb) from public;
grant execute on function private.ensure_statuses(jsonb) to service_role;

create function public.upsert_tickets(tickets jsonb)
returns table (key text, ticket_id bigint, project_id bigint, comment_ids bigint[])
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  perform private.leave_embedding_to_caller(true);
  perform private.ensure_statuses((
    select coalesce(jsonb_agg(jsonb_build_object('name', x.name, 'category', x.category)), '[]')
    from (
      select t ->> 'status' as name, t ->> 'status_category' as category from jsonb_array_elements(upsert_tickets.tickets) t
      union
      select n ->> 'status', null from jsonb_array_elements(upsert_tickets.tickets) t, jsonb_array_elements(coalesce(t -> 'notes', '[]')) n
    ) x));

  -- A field that a row does not have stays as it is; one that is null is emptied. created_at is left to the default where the
  -- row has none, and kept where the ticket exists.
  insert into public.tickets as t (
    key, project_id, status_id, name, description, assignee, reporter, ticket_type, priority, labels, due_date, resolved_at, created_at, updated_at)
  select g.row ->> 'key', p.project_id, s.status_id, g.row ->> 'name', g.row ->> 'description',
    case when g.row ? 'assignee' then g.row ->> 'assignee' else o.assignee end,
    case when g.row ? 'reporter' then g.row ->> 'reporter' else o.reporter end,
    case when g.row ? 'ticket_type' then g.row ->> 'ticket_type' else o.ticket_type end,
    case when g.row ? 'priority' then g.row ->> 'priority' else o.priority end,
    case when jsonb_typeof(g.row -> 'labels') = 'array' then array(select jsonb_array_elements_text(g.row -> 'labels'))
      when g.row ? 'labels' then '{}' else coalesce(o.labels, '{}') end,
    case when g.row ? 'due_date' then (g.row ->> 'due_date')::date else o.due_date end,
    case when g.row ? 'resolved_at' then (g.row ->> 'resolved_at')::timestamptz else o.resolved_at end,
    coalesce((g.row ->> 'created_at')::timestamptz, now()),
    coalesce((g.row ->> 'updated_at')::timestamptz, o.updated_at, (g.row ->> 'created_at')::timestamptz, now())
  from (
    select distinct on (upper(x.row ->> 'key')) x.row
    from jsonb_array_elements(upsert_tickets.tickets) with ordinality as x(row, place)
    order by upper(x.row ->> 'key'), x.place desc
  ) g
  join public.projects p on p.key = g.row ->> 'project_key'
  join public.status s on lower(s.name) = lower(g.row ->> 'status')
  left join public.tickets o on upper(o.key) = upper(g.row ->> 'key')
  -- Whatever way the joins go: two loads of the same tickets must not wait for one another both.
  order by upper(g.row ->> 'key')
  on conflict (upper(key)) do update
    set project_id = excluded.project_id, status_id = excluded.status_id, name = excluded.name, description = excluded.description,
      assignee = excluded.assignee, reporter = excluded.reporter, ticket_type = excluded.ticket_type, priority = excluded.priority,
      labels = excluded.labels, due_date = excluded.due_date, resolved_at = excluded.resolved_at, updated_at = excluded.updated_at
    where (t.project_id, t.status_id, t.name, t.description, t.assignee, t.reporter, t.ticket_type, t.priority, t.labels, t.due_date,
        t.resolved_at, t.updated_at)
      is distinct from (excluded.project_id, excluded.status_id, excluded.name, excluded.description, excluded.assignee, excluded.reporter,
        excluded.ticket_type, excluded.priority, excluded.labels, excluded.due_date, excluded.resolved_at, excluded.updated_at);

  -- A note is the same one when its ticket and text are; one without text says nothing.
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

  insert into public.comments as c (ticket_id, key, author, body, created_at, updated_at)
  select g.ticket_id, g.key, g.author, g.body, coalesce(g.created_at, now()), coalesce(g.updated_at, g.created_at, now())
  from (
    select distinct on (t.ticket_id, n.row ->> 'key') t.ticket_id, n.row ->> 'key' as key, n.row ->> 'author' as author, n.row ->> 'body' as body,
      (n.row ->> 'created_at')::timestamptz as created_at, (n.row ->> 'updated_at')::timestamptz as updated_at
    from jsonb_array_elements(upsert_tickets.tickets) with ordinality as x(row, place)
    join public.tickets t on upper(t.key) = upper(x.row ->> 'key')
    join public.projects p on p.key = x.row ->> 'project_key'
    cross join lateral jsonb_array_elements(coalesce(nullif(x.row -> 'comments', 'null'), '[]')) with ordinality as n(row, place)
    where n.row ->> 'key' is not null and n.row ->> 'body' ~ '\S'
    order by t.ticket_id, n.row ->> 'key', x.place desc, n.place desc
  ) g
  order by g.ticket_id, g.created_at, g.key
  on conflict (ticket_id, key) do update
    set author = excluded.author, body = excluded.body, updated_at = excluded.updated_at
    where (c.author, c.body) is distinct from (excluded.author, excluded.body);
  perform private.leave_embedding_to_caller(false);

  return query
  select t.key, t.ticket_id, t.project_id, array(
    select c.comment_id from public.comments c
    where c.ticket_id = t.ticket_id and c.key in (
      select n ->> 'key' from jsonb_array_elements(upsert_tickets.tickets) g, jsonb_array_elements(coalesce(nullif(g -> 'comments', 'null'), '[]')) n
      where upper(g ->> 'key') = upper(t.key))
    order by c.comment_id)
  from public.tickets t
  where upper(t.key) in (select upper(g ->> 'key') from jsonb_array_elements(upsert_tickets.tickets) g);
end
$$;
comment on function public.upsert_tickets(jsonb) is
  'Inserts or updates tickets by key: [{key, project_key, status, status_category, name, description, assignee, reporter, ticket_type, priority, labels, due_date, resolved_at, created_at, updated_at, notes: [{status, note, created_at}], comments: [{key, author, body, created_at, updated_at}]}]. Of the fields from assignee to resolved_at one that is absent stays as it is, and null empties it. Statuses are made as they are met; a ticket of an unknown project is left out. Returns the keys written or already there, with their ids and those of the comments given. The caller has two minutes to embed them itself, then workers do.';
revoke execute on function public.upsert_tickets(jsonb) from public, anon, authenticated;
grant execute on function public.upsert_tickets(jsonb) to service_role;

create function public.upsert_ticket_links(links jsonb)
returns table (place bigint)
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  insert into public.ticket_links (ticket_id, kind, other_ticket_id)
  select distinct f.ticket_id, l.row ->> 'kind', o.ticket_id
  from jsonb_array_elements(upsert_ticket_links.links) as l(row)
  join public.tickets f on upper(f.key) = upper(l.row ->> 'from')
  join public.tickets o on upper(o.key) = upper(l.row ->> 'to')
  where f.ticket_id <> o.ticket_id
  order by 1, 2, 3
  on conflict do nothing;
  return query
  select l.place - 1
  from jsonb_array_elements(upsert_ticket_links.links) with ordinality as l(row, place)
  where not exists (select 1 from public.tickets f where upper(f.key) = upper(l.row ->> 'from'))
    or not exists (select 1 from public.tickets o where upper(o.key) = upper(l.row ->> 'to'))
  order by l.place;
end
$$;
comment on function public.upsert_ticket_links(jsonb) is
  'Adds links between tickets: [{from, kind, to}], the tickets by key, kind duplicates, blocks, relates_to or child_of. Those already there stay. Returns the places, from 0, of links of which a ticket does not exist.';
revoke execute on function public.upsert_ticket_links(jsonb) from public, anon, authenticated;
grant execute on function public.upsert_ticket_links(jsonb) to service_role;

-- What an import brought earlier and brings no more. Comments without a key were written here and are not an import's.
create function public.reconcile_tickets(tickets jsonb, remove boolean default false)
returns table (comments bigint, links bigint)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  gone_comments bigint[];
  gone_links record;
begin
  gone_comments := array(
    select c.comment_id
    from jsonb_array_elements(reconcile_tickets.tickets) as g(row)
    join public.tickets t on upper(t.key) = upper(g.row ->> 'key')
    join public.comments c on c.ticket_id = t.ticket_id
    where jsonb_typeof(g.row -> 'comment_keys') = 'array' and c.key is not null and not (g.row -> 'comment_keys') ? c.key);
  select array_agg(l.ticket_id) as tickets, array_agg(l.kind) as kinds, array_agg(l.other_ticket_id) as others into gone_links
    from jsonb_array_elements(reconcile_tickets.tickets) as g(row)
    join public.tickets t on upper(t.key) = upper(g.row ->> 'key')
    join public.ticket_links l on l.ticket_id = t.ticket_id
    join public.tickets o on o.ticket_id = l.other_ticket_id
    where jsonb_typeof(g.row -> 'links') = 'array'
      and not (g.row -> 'links') @> jsonb_build_array(jsonb_build_object('kind', l.kind, 'to', upper(o.key)));
  if remove then
    delete from public.comments c where c.comment_id = any (gone_comments);
    delete from public.ticket_links l
      using unnest(gone_links.tickets, gone_links.kinds, gone_links.others) as x(ticket_id, kind, other_ticket_id)
      where l.ticket_id = x.ticket_id and l.kind = x.kind and l.other_ticket_id = x.other_ticket_id;
  end if;
  return query select cardinality(gone_comments)::bigint, coalesce(cardinality(gone_links.tickets), 0)::bigint;
end
$$;
comment on function public.reconcile_tickets(jsonb, boolean) is
  'Counts the comments with a key and the links from these tickets that are not listed, and removes them on demand: [{key, comment_keys: [], links: [{kind, to}]}], where to is a key in upper case. A list that is absent or null is not compared.';
revoke execute on function public.reconcile_tickets(jsonb, boolean) from public, anon, authenticated;
grant execute on function public.reconcile_tickets(jsonb, boolean) to service_role;

create function public.page_tickets(project_ids bigint[], after bigint default 0, match_count integer default 1000)
returns table (ticket_id bigint, key text)
language sql stable security invoker set search_path = ''
as $$
  select t.ticket_id, t.key from public.tickets t
  where t.project_id = any (page_tickets.project_ids) and t.ticket_id > page_tickets.after
  order by t.ticket_id
  limit greatest(1, least(1000, page_tickets.match_count))
$$;
comment on function public.page_tickets(bigint[], bigint, integer) is 'The tickets of some projects by rising id, those after an id. match_count at most 1,000.';
revoke execute on function public.page_tickets(bigint[], bigint, integer) from public, anon, authenticated;
grant execute on function public.page_tickets(bigint[], bigint, integer) to service_role;

create function public.delete_tickets(ticket_ids bigint[]) returns bigint
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  deleted bigint;
begin
  delete from public.tickets t where t.ticket_id = any (delete_tickets.ticket_ids);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function public.delete_tickets(bigint[]) is 'Deletes tickets with everything that is theirs. Returns how many there were.';
revoke execute on function public.delete_tickets(bigint[]) from public, anon, authenticated;
grant execute on function public.delete_tickets(bigint[]) to service_role;

insert into private.migrations (version) values ('20260101000900');
