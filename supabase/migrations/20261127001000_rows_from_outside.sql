-- Rows that come from outside: imported ones, and those of an application's own tables. One set of
-- functions judges and writes both; whose a row is, is recorded apart (imported_*, attached_rows).

-- What has a reason is not written. An import leaves out members, and an empty one is null, as is a
-- description that is left out; a view's columns have any type, of which the text counts.
create function tasklens.judge_rows(kinds text[], given jsonb[], imported boolean)
returns table (place bigint, kind text, "row" jsonb, reason text, cut text)
language sql stable rows 100 security invoker set search_path = ''
as $$
  select g.place, g.kind, case when g.kind = 'tickets' then case when imported then '{"status": "To Do", "description": null}' else '{"status": "To Do"}' end
      when g.kind = 'projects' and imported then '{"description": null}' else '{}' end::jsonb || f.fields, coalesce(
      case when jsonb_typeof(g.row) <> 'object' then format('it is a JSON %s, not an object', jsonb_typeof(g.row)) end,
      (select min(format('its %s is missing', w)) from unnest(case when imported then case g.kind when 'projects' then '{key,name}' when 'tickets' then '{key,name,project_key}' when 'links' then case when f.fields ->> 'source_id' is null then '{key}' end end end::text[]) w
        where coalesce(f.fields ->> w, '') !~ '\S'),
      f.fault,
      case when g.kind = 'links' and (f.fields ->> 'kind' in ('duplicates', 'blocks', 'relates_to', 'child_of')) is not true
        then format('the kind of a link is %s: use duplicates, blocks, relates_to or child_of', coalesce(left(f.fields ->> 'kind', 40), 'missing')) end), f.cut
  from unnest(kinds, given) with ordinality g(kind, "row", place)
  cross join lateral (
    -- Most members are stored as they are given.
    select (case jsonb_typeof(g.row) when 'object' then g.row else '{}' end || coalesce(jsonb_object_agg(m.name, v.stored) filter (where v.stored is not null), '{}'))
        - coalesce(array_agg(m.name) filter (where m.form = 'rows' or m.is_null and m.name in ('key', 'status', 'created_at', 'updated_at')), '{}') as fields,
      string_agg(m.name, ', ' order by m.name) filter (where m.form = 'name' and length(m.text) > 1000
        or m.form = 'list' and exists (select from jsonb_path_query(m.given, '$[*]') l where length(l #>> '{}') > 1000)) as cut,
      min(case
        when m.form is null or m.is_null then null
        when m.form = 'rows' then case when jsonb_typeof(m.given) <> 'array' then format('its %s are a JSON %s, not a list', m.name, jsonb_typeof(m.given)) end
        when case m.form when 'list' then jsonb_typeof(m.given) <> 'array' else imported and not m.is_text end
          then format('its %s is a JSON %s, not a %s', m.name, jsonb_typeof(m.given), case m.form when 'list' then 'list' else 'text' end)
        when m.form = 'list' then case when imported and jsonb_path_exists(m.given, 'strict $[*] ? (@.type() != "string" && @.type() != "null")') then format('its %s are not all texts', m.name) end
        when m.form = 'time' then case when case
            when m.text like '0000%' or m.text !~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?( ?(Z|[+-](0\d|1[0-5])(:?[0-5]\d){0,2}))?)?$' then true
            when substr(m.text, 9, 2) > '28' then substr(m.text, 9, 2)::integer > extract(day from make_date(left(m.text, 4)::integer, substr(m.text, 6, 2)::integer, 1) + interval '1 month - 1 day') end
          then format('its %s is %s, not a time of the years 1 to 9999, such as 2026-03-04T09:12:00Z', m.name, left(m.text, 40)) end
        when m.name = 'key' and length(m.text) > 255 then format('its key has %s characters, more than 255', length(m.text))
        when m.name = 'key' and m.text ~ '[\u0001-\u001F\u007F-\u009F\uFFFD]' then 'its key has a control character'
        when m.name = 'status' and m.text !~ '\S' then 'its status is empty'
        when m.name = 'status' and length(m.text) > 100 then format('its status has %s characters, more than 100', length(m.text))
        when m.name = 'status_category' and m.text not in ('to_do', 'in_progress', 'done') then format('its status_category is %s: use to_do, in_progress or done', left(m.text, 100))
        when m.name = 'language' and m.text <> all (array(select c.cfgname from pg_catalog.pg_ts_config c where c.cfgnamespace = 'tasklens'::regnamespace))
          then format('its language is %s, which Postgres does not have', left(m.text, 40))
        -- Not shown: it may hold a password.
        when m.name = 'url' and not tasklens.is_page(m.text) then 'its url is no address of a page: use http or https, at most 1,000 characters, and no credentials' end) as fault
    from (
      select x.key as name, x.value as given, f.form, t.raw, jsonb_typeof(x.value) = 'string' as is_text, case f.form when 'name' then t.raw else btrim(t.raw, e' \t\r\n') end as text,
        x.value = 'null' or imported and x.key <> 'name' and jsonb_typeof(x.value) = 'string' and t.raw !~ '\S' as is_null
      from jsonb_each(case jsonb_typeof(g.row) when 'object' then g.row else '{}' end) x
      cross join lateral (select case
        when x.key in ('description', 'body', 'note') then 'long'
        when x.key in ('key', 'project_key', 'status', 'status_category', 'language', 'url', 'kind') then 'word'
        when x.key in ('name', 'assignee', 'reporter', 'ticket_type', 'priority', 'source_id', 'author') then 'name'
        when x.key in ('created_at', 'updated_at', 'resolved_at', 'due_date') then 'time'
        when x.key = 'labels' then 'list'
        when x.key in ('comments', 'links', 'notes') then 'rows' end) f(form)
      cross join lateral (select case when f.form in ('long', 'rows') then null else x.value #>> '{}' end offset 0) t(raw)
      offset 0
    ) m
    cross join lateral (select case
      when m.form = 'rows' then null
      when m.is_null then case when m.name in ('name', 'body') then '""' when m.form = 'list' then '[]' else 'null' end::jsonb
      when m.form = 'list' and jsonb_typeof(m.given) = 'array' then (select coalesce(jsonb_agg(left(l #>> '{}', 1000)), '[]') from jsonb_array_elements(m.given) l where l <> 'null')
      when m.form = 'name' and length(m.text) > 1000 then to_jsonb(left(m.text, 1000))
      when m.form = 'word' and (m.text <> m.raw or m.text = '' or not m.is_text) then coalesce(to_jsonb(case when m.name = 'status' then m.text else nullif(m.text, '') end), 'null')
      when m.form <> 'list' and not m.is_text then to_jsonb(m.given #>> '{}') end offset 0) v(stored)
  ) f
$$;
comment on function tasklens.judge_rows is 'Rows of these kinds as they are to be stored, each with the reason for which it cannot be, naming the member, and the names that are cut to 1,000 characters. It reads no table and locks nothing.';

create function tasklens.add_states(rows jsonb[]) returns table (key text, id bigint)
language sql volatile security invoker set search_path = ''
as $$
  insert into public.status (name, category)
  select distinct on (lower(n.row ->> 'status')) n.row ->> 'status', n.row ->> 'status_category'
  from unnest(add_states.rows) with ordinality n(row, place)
  where n.row ->> 'status' is not null and not exists (select from public.status s where lower(s.name) = lower(n.row ->> 'status'))
  order by lower(n.row ->> 'status'), n.row ->> 'status_category' is null, n.place
  on conflict do nothing
  returning lower(name), status_id
$$;
comment on function tasklens.add_states is 'Adds the statuses that rows name and nobody has, each in the category of the first that gives one, and returns them. Those that exist stay as they are. Locks only what it adds.';

-- A copy is found by its id, an imported row by its key. What is absent keeps what is stored, and
-- what is the same is left out before: an insert that meets its row locks it, changed or not.
create function tasklens.write_rows(kind text, ids bigint[], parents bigint[], rows jsonb[], by_key boolean) returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  id_column constant text := rtrim(kind, 's') || '_id';
  parent_column constant text := case kind when 'tickets' then 'project_id' when 'comments' then 'ticket_id' else 'parent_id' end;
  names record; -- of columns: all that are written, then those that a stored row does not keep
  changed bigint;
begin
  select string_agg(quote_ident(a.attname), ', ') as written, string_agg(format('r.%I', a.attname), ', ') as given,
      string_agg(quote_ident(a.attname), ', ') filter (where not k.kept) as changed, string_agg(format('excluded.%I', a.attname), ', ') filter (where not k.kept) as excluded,
      string_agg(format('r.%1$I is distinct from (o.stored).%1$I', a.attname), ' or ') filter (where not k.kept) as differ
    into names
    from pg_catalog.pg_attribute a cross join lateral (select a.attname = id_column or by_key and a.attname in ('key', 'created_at') as kept) k
    where a.attrelid = ('public.' || kind)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and not (by_key and a.attname = id_column);
  -- A comment that says no other time was last changed when it was written.
  execute format($statement$
    insert into public.%1$s as t (%4$s)
    select %5$s
    from unnest($1, $2, $3) with ordinality b(id, parent, "row", place)
    left join public.status s on lower(s.name) = lower(b.row ->> 'status')
    left join lateral (select t as stored from public.%1$s t where t.%2$I = b.id limit 1) o on true -- by its index
    cross join lateral jsonb_populate_record(o.stored, case when o.stored is null
      then jsonb_build_object('name', '', 'body', '', 'labels', '{}'::text[], 'created_at', now(), 'updated_at', coalesce(case %1$L when 'comments' then b.row -> 'created_at' end, to_jsonb(now()))) else '{}' end
      || b.row || jsonb_build_object(%2$L, b.id, %3$L, b.parent, 'status_id', s.status_id)) r
    where o.stored is null or %9$s
    order by b.place
    on conflict (%6$s) do update set (%7$s) = row(%8$s) $statement$,
    kind, id_column, parent_column, names.written, names.given,
    case when not by_key then id_column else case kind when 'projects' then 'key' when 'tickets' then 'upper(key)' else 'ticket_id, key' end end, names.changed, names.excluded, names.differ)
    using ids, parents, rows;
  get diagnostics changed = row_count;
  if changed > 0 then
    -- Where the row changed and its time did not, a trigger has set the present.
    execute format($statement$ update public.%1$s t set updated_at = r.updated_at
      from unnest($1, $2) b(id, "row") cross join lateral (select (b.row ->> 'updated_at')::timestamptz as updated_at) r
      where t.%2$I = b.id and t.updated_at <> r.updated_at $statement$, kind, id_column) using ids, rows;
  end if;
end
$$;
comment on function tasklens.write_rows is 'Inserts or updates rows, as judge_rows made them, with the id of the stored row if there is one and that of what they belong to. Locks each that changes in the order given: by key where several writers may meet.';

-- An import names the other ticket by its key or its id in an origin, a view by its own key: it may
-- come later. Imports may list a relation, which is symmetric, from both ends: it is stored once.
create function tasklens.write_links(given jsonb, imported boolean)
returns table (listed_by bigint, kind text, other text, inward boolean, ticket_id bigint, other_ticket_id bigint, added boolean)
language plpgsql volatile rows 100 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  with named as materialized (
    select l.* from jsonb_to_recordset(write_links.given) l(id bigint, kind text, other text, origin text, inward boolean)
  ), keyed as materialized (
    select k.* from tasklens.keyed_tickets(array(select distinct upper(l.other) from named l where write_links.imported and l.origin is null)) k
  ), listed as materialized (
    select l.*, o.id is not null as known, case when l.inward then array[o.id, l.id] else array[l.id, o.id] end as ends
    from named l
    left join keyed k on k.key = upper(l.other) and l.origin is null
    left join tasklens.attached_rows r on not write_links.imported and (r.kind, r.key) = ('tickets', l.other) and r.reason is null
    cross join lateral (select case when write_links.imported then coalesce(k.ticket_id, case when l.origin is not null then tasklens.sourced_ticket(l.origin, l.other) end) else r.id end) o(id)
  ), directed as materialized (
    select l.*, case when r.ticket_id is not null then array[l.ends[2], l.ends[1]] else first_value(l.ends) over (
        partition by l.kind, least(l.ends[1], l.ends[2]), greatest(l.ends[1], l.ends[2]), case when l.kind <> 'relates_to' or not write_links.imported then l.ends end) end as stored
    from listed l
    left join public.ticket_links r on write_links.imported and l.kind = 'relates_to' and (r.kind, r.ticket_id, r.other_ticket_id) = ('relates_to', l.ends[2], l.ends[1])
  ), added as (
    insert into public.ticket_links (ticket_id, kind, other_ticket_id)
    select distinct d.stored[1], d.kind, d.stored[2] from directed d where d.known and d.stored[1] <> d.stored[2] order by 1, 2, 3
    on conflict do nothing returning ticket_id, kind, other_ticket_id
  )
  select d.id, d.kind, d.other, d.inward, case when d.known then d.stored[1] end, case when d.known then d.stored[2] end, a.ticket_id is not null
  from directed d left join added a on (a.ticket_id, a.kind, a.other_ticket_id) = (d.stored[1], d.kind, d.stored[2]);
end
$$;
comment on function tasklens.write_links is 'Adds links that tickets list: [{id, kind, other, origin, inward}]. Returns each with its ends as they are stored, null where there is no such ticket, and whether it is new. One of a ticket to itself is left out. Locks what it adds.';

insert into tasklens.migrations (version) values ('20261127001000');
