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

-- Statuses are made as they are met.
create function private.ensure_statuses(names text[]) returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into public.status (name)
  select distinct on (lower(n)) n from unnest(ensure_statuses.names) as n
  where n is not null and not exists (select 1 from public.status s where lower(s.name) = lower(n))
  on conflict do nothing
$$;
comment on function private.ensure_statuses(text[]) is 'Adds the statuses that do not exist yet, compared without regard to case.';
revoke execute on function private.ensure_statuses(text[]) from public;
grant execute on function private.ensure_statuses(text[]) to service_role;

create function public.upsert_tickets(tickets jsonb)
returns table (key text, ticket_id bigint, project_id bigint)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  perform private.leave_embedding_to_caller(true);
  perform private.ensure_statuses(array(
    select t ->> 'status' from jsonb_array_elements(upsert_tickets.tickets) t
    union
    select n ->> 'status' from jsonb_array_elements(upsert_tickets.tickets) t, jsonb_array_elements(coalesce(t -> 'notes', '[]')) n));

  -- created_at is left to the default where the row has none, and kept where the ticket exists.
  insert into public.tickets as t (key, project_id, status_id, name, description, created_at)
  select g.key, p.project_id, s.status_id, g.name, g.description, coalesce(g.created_at, now())
  from (
    select distinct on (upper(x.row ->> 'key')) x.row ->> 'key' as key, x.row ->> 'project_key' as project_key, x.row ->> 'status' as status,
      x.row ->> 'name' as name, x.row ->> 'description' as description, (x.row ->> 'created_at')::timestamptz as created_at
    from jsonb_array_elements(upsert_tickets.tickets) with ordinality as x(row, place)
    order by upper(x.row ->> 'key'), x.place desc
  ) g
  join public.projects p on p.key = g.project_key
  join public.status s on lower(s.name) = lower(g.status)
  -- Whatever way the joins go: two loads of the same tickets must not wait for one another both.
  order by upper(g.key)
  on conflict (upper(key)) do update
    set project_id = excluded.project_id, status_id = excluded.status_id, name = excluded.name, description = excluded.description
    where (t.project_id, t.status_id, t.name, t.description)
      is distinct from (excluded.project_id, excluded.status_id, excluded.name, excluded.description);

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
  perform private.leave_embedding_to_caller(false);

  return query
  select t.key, t.ticket_id, t.project_id from public.tickets t
  where upper(t.key) in (select upper(g ->> 'key') from jsonb_array_elements(upsert_tickets.tickets) g);
end
$$;
comment on function public.upsert_tickets(jsonb) is
  'Inserts or updates tickets by key: [{key, project_key, status, name, description, created_at, notes: [{status, note, created_at}]}]. Statuses are made as they are met; a ticket of an unknown project is left out. Returns the keys written or already there, with their ids. The caller has two minutes to embed them itself, then workers do.';
revoke execute on function public.upsert_tickets(jsonb) from public, anon, authenticated;
grant execute on function public.upsert_tickets(jsonb) to service_role;

insert into private.migrations (version) values ('20260101000900');
