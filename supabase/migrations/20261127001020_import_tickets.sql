-- Imports tickets with their notes and comments.

-- A row gives the columns of tickets by name, whatever columns there are. An absent one keeps its
-- value; null or an empty text clears it. Of several rows with a key, the last counts. Without
-- created_at a new ticket gets the default. An existing ticket keeps its time.
create function tasklens.write_tickets(tickets jsonb) returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  fields record; -- lists of the columns that a row may change
begin
  select string_agg(quote_ident(a.attname), ', ') as names, string_agg(format('r.%I', a.attname), ', ') as given,
      string_agg(format('excluded.%I', a.attname), ', ') as excluded, string_agg(format('t.%I', a.attname), ', ') as stored
    into fields
    from pg_catalog.pg_attribute a
    where a.attrelid = 'public.tickets'::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and a.attname not in ('ticket_id', 'key', 'created_at', 'updated_at');
  execute format($statement$
    insert into public.tickets as t (key, %1$s, created_at, updated_at)
    select g.row ->> 'key', %2$s, coalesce(r.created_at, now()), coalesce(nullif(g.row ->> 'updated_at', '')::timestamptz, now())
    from (
      select distinct on (upper(x.row ->> 'key')) x.row - '{notes,comments,links}'::text[] as row
      from jsonb_array_elements($1) with ordinality as x(row, place)
      order by upper(x.row ->> 'key'), x.place desc
    ) g
    join public.projects p on p.key = g.row ->> 'project_key'
    join public.status s on lower(s.name) = lower(g.row ->> 'status')
    left join public.tickets o on upper(o.key) = upper(g.row ->> 'key')
    cross join lateral (
      select jsonb_object_agg(e.key, case
        when e.key = 'labels' and e.value = 'null' then '[]'
        when e.key not in ('name', 'description') and e.value = '""' then 'null'
        else e.value end) as given
      from jsonb_each(g.row) e
    ) f
    cross join lateral jsonb_populate_record(o,
      case when o.ticket_id is null then '{"labels": []}' else '{"name": null, "description": null}' end::jsonb
      || f.given || jsonb_build_object('project_id', p.project_id, 'status_id', s.status_id)) r
    -- In a fixed order for any plan, so that concurrent imports cannot deadlock.
    order by upper(g.row ->> 'key')
    on conflict (upper(key)) do update
      -- now() marks a row without updated_at, see above. The trigger then sets the time if anything
      -- changed.
      set (%1$s, updated_at) = row(%3$s, case when excluded.updated_at = now() then t.updated_at else excluded.updated_at end)
      where (%4$s) is distinct from (%3$s) or excluded.updated_at not in (now(), t.updated_at)
    $statement$, fields.names, fields.given, fields.excluded, fields.stored)
    using tickets;
end
$$;
comment on function tasklens.write_tickets is 'Inserts or updates the tickets given to upsert_tickets whose projects and statuses exist.';

-- Without an import_id rows are matched by key alone.
create function public.upsert_tickets(tickets jsonb, import_id bigint default null, take_over boolean default false)
returns table (key text, ticket_id bigint, project_id bigint, comment_ids bigint[], held_by text, reason text, cut text)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  our_origin constant text := (select i.origin from tasklens.imports i where i.import_id = upsert_tickets.import_id);
  own jsonb := upsert_tickets.tickets;
  expected bigint;
  marked bigint;
begin
  if our_origin is not null then
    -- The rows that an import may write: in its own projects, with keys that are its own or new.
    select coalesce(jsonb_agg(x.row order by x.place), '[]') into own
    from jsonb_array_elements(upsert_tickets.tickets) with ordinality as x(row, place)
    join public.projects p on p.key = x.row ->> 'project_key'
    join tasklens.imported_projects m on m.project_id = p.project_id and m.origin = our_origin
    left join public.tickets t on upper(t.key) = upper(x.row ->> 'key')
    left join tasklens.imported_tickets n on n.ticket_id = t.ticket_id
    where upsert_tickets.take_over or t.ticket_id is null or n.origin = our_origin;
  end if;
  -- Missing statuses. The category of an existing one is kept: it may have been set by hand.
  insert into public.status (name, category)
  select distinct on (lower(g ->> 'status')) g ->> 'status', g ->> 'status_category'
  from jsonb_array_elements(own || jsonb_path_query_array(own, 'lax $[*].notes[*]')) with ordinality as x(g, place)
  where g ->> 'status' is not null and not exists (select 1 from public.status s where lower(s.name) = lower(g ->> 'status'))
  order by lower(g ->> 'status'), g ->> 'status_category' is null, x.place
  on conflict do nothing;

  perform tasklens.write_tickets(own);

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

  -- A comment is identified by its key. One without key or text is skipped; one that exists keeps
  -- its creation time.
  insert into public.comments as c (ticket_id, key, author, body, created_at, updated_at)
  select g.ticket_id, g.key, g.author, g.body, coalesce(g.created_at, now()), coalesce(g.updated_at, g.created_at, now())
  from (
    select distinct on (t.ticket_id, n.row ->> 'key') t.ticket_id, n.row ->> 'key' as key, nullif(n.row ->> 'author', '') as author,
      n.row ->> 'body' as body, (n.row ->> 'created_at')::timestamptz as created_at, (n.row ->> 'updated_at')::timestamptz as updated_at,
      x.place, n.place as place_within
    from jsonb_array_elements(own) with ordinality as x(row, place)
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
      or excluded.updated_at not in (now(), excluded.created_at) and c.updated_at is distinct from excluded.updated_at;

  if our_origin is not null then
    -- Which import listed the tickets, and what it lists of them.
    select count(*) into expected
    from public.tickets t
    where upper(t.key) in (select upper(g ->> 'key') from jsonb_array_elements(own) g);
    insert into tasklens.imported_tickets as m (ticket_id, import_id, origin, links, unlisted_comments)
    select t.ticket_id, upsert_tickets.import_id, our_origin, case when jsonb_typeof(g.row -> 'links') = 'array' then g.row -> 'links' end,
      array(
        select c.comment_id from public.comments c
        where c.ticket_id = t.ticket_id and c.key is not null and jsonb_typeof(g.row -> 'comments') = 'array'
          and c.key not in (select n ->> 'key' from jsonb_array_elements(g.row -> 'comments') n where n ->> 'key' is not null)
        order by 1)
    from (
      select distinct on (upper(x.row ->> 'key')) x.row
      from jsonb_array_elements(own) with ordinality as x(row, place)
      order by upper(x.row ->> 'key'), x.place desc
    ) g
    join public.tickets t on upper(t.key) = upper(g.row ->> 'key')
    order by t.ticket_id
    on conflict (ticket_id) do update
      set import_id = case when upsert_tickets.take_over then excluded.import_id else greatest(m.import_id, excluded.import_id) end,
        origin = excluded.origin, links = excluded.links, unlisted_comments = excluded.unlisted_comments
      where upsert_tickets.take_over or m.origin = excluded.origin;
    get diagnostics marked = row_count;
    if marked <> expected then
      -- Undoes this batch. When it is tried again, these keys are refused.
      raise exception using errcode = 'serialization_failure', message = 'Another import has just added one of these tickets.';
    end if;
  end if;

  return query
  select t.key, t.ticket_id, t.project_id, array(
    select c.comment_id from public.comments c
    where c.ticket_id = t.ticket_id and c.key in (
      select n ->> 'key' from jsonb_array_elements(upsert_tickets.tickets) g, jsonb_path_query(g, '$.comments[*]') n
      where upper(g ->> 'key') = upper(t.key))
    order by c.comment_id),
    case when our_origin is not null and m.origin is distinct from our_origin then coalesce(m.origin, '') end, null::text, null::text
  from public.tickets t
  left join tasklens.imported_tickets m on m.ticket_id = t.ticket_id
  where upper(t.key) in (select upper(g ->> 'key') from jsonb_array_elements(upsert_tickets.tickets) g)
  union all
  select g ->> 'key', null, null, null, null, 'there is no project ' || (g ->> 'project_key'), null
  from jsonb_array_elements(upsert_tickets.tickets) g where not exists (select from public.projects p where p.key = g ->> 'project_key');
end
$$;
comment on function public.upsert_tickets is
  'Inserts or updates tickets by key: [{key, project_key, status, status_category, any column of tickets, notes: [{status, note, created_at}], comments: [{key, author, body, created_at, updated_at}], links: [{kind, key, inward}]}]. Omitted fields keep their values, and null clears them; tickets of unknown projects are skipped. Tickets of another origin than import_id''s stay unless taken over: held_by names it.';

insert into tasklens.migrations (version) values ('20261127001020');
