-- Imports projects and tickets by their external keys. Repeating an import changes nothing.

-- Without an import_id rows are matched by key alone.
create function public.upsert_projects(projects jsonb, import_id bigint default null, take_over boolean default false)
returns table (key text, project_id bigint, held_by text)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  our_origin constant text := (select i.origin from tasklens.imports i where i.import_id = upsert_projects.import_id);
begin
  if our_origin is not null then
    -- Two imports must not both find a key free.
    perform pg_advisory_xact_lock(hashtext('tasklens.imported_projects'));
  end if;
  return query
  with given as (
    -- If a key occurs several times, the last row counts.
    select distinct on (g.row ->> 'key') g.row ->> 'key' as key, g.row ->> 'name' as name, g.row ->> 'description' as description
    from jsonb_array_elements(upsert_projects.projects) with ordinality as g(row, place)
    order by g.row ->> 'key', g.place desc
  ), held as (
    select p.key, p.project_id, coalesce(m.origin, '') as held_by
    from given g
    join public.projects p on p.key = g.key
    left join tasklens.imported_projects m on m.project_id = p.project_id
    where not upsert_projects.take_over and m.origin is distinct from our_origin and our_origin is not null
  ), written as (
    insert into public.projects as p (key, name, description)
    select g.key, g.name, g.description from given g where not exists (select from held h where h.key = g.key)
    on conflict (key) do update set name = excluded.name, description = excluded.description
      where (p.name, p.description) is distinct from (excluded.name, excluded.description)
    returning p.key, p.project_id
  ), ours as (
    select w.key, w.project_id from written w
    union all
    select p.key, p.project_id from public.projects p join given g on g.key = p.key
    where not exists (select 1 from written w where w.key = p.key) and not exists (select from held h where h.key = p.key)
  ), listed as (
    insert into tasklens.imported_projects as m (project_id, import_id, origin)
    select o.project_id, upsert_projects.import_id, our_origin from ours o where our_origin is not null
    on conflict (project_id) do update set origin = excluded.origin,
      import_id = case when upsert_projects.take_over then excluded.import_id else greatest(m.import_id, excluded.import_id) end
  )
  select o.key, o.project_id, null::text from ours o
  union all
  select h.key, h.project_id, h.held_by from held h;
end
$$;
comment on function public.upsert_projects is
  'Inserts or updates projects by key: [{key, name, description}]. Projects of another origin than import_id''s stay unless taken over: held_by names it, empty if they were not imported.';

-- Upserts the comments of imported rows by key. A comment without key or text is skipped.
create function tasklens.upsert_comments(tickets jsonb) returns void
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
    cross join lateral jsonb_path_query(x.row, '$.comments[*]') with ordinality as n(row, place)
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
comment on function tasklens.upsert_comments is
  'Inserts or updates the comments given to upsert_tickets whose tickets exist. An existing comment keeps its creation time.';

insert into tasklens.migrations (version) values ('20261127001010');
