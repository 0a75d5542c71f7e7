-- The end of an import: links, once all tickets exist, and the removal of rows of its origin that
-- it did not list.

create function public.link_imported_tickets(import_id bigint, after bigint default 0, match_count integer default 100)
returns table (last_ticket_id bigint, links integer, unknown integer, examples text[])
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  page constant bigint[] := array(
    select m.ticket_id from tasklens.imported_tickets m
    where m.import_id = link_imported_tickets.import_id and m.ticket_id > link_imported_tickets.after and m.links <> '[]'
    order by m.ticket_id
    limit tasklens.clamp(link_imported_tickets.match_count, 100, 1, 1000));
begin
  return query
  with listed as materialized (
    select l.*, t.key
    from tasklens.write_links((
      select jsonb_agg(jsonb_build_object('id', m.ticket_id, 'kind', l.kind, 'other', coalesce(l.key, l.source_id), 'origin', case when l.key is null then m.origin end, 'inward', l.inward))
      from tasklens.imported_tickets m cross join lateral jsonb_to_recordset(m.links) l(kind text, key text, source_id text, inward boolean) where m.ticket_id = any (page)), true) l
    join public.tickets t on t.ticket_id = l.listed_by
  ), marked as (
    -- Only links that an import made: what was linked by hand stays that way.
    insert into tasklens.imported_links as m (ticket_id, kind, other_ticket_id, listed_by, import_id)
    select distinct on (l.ticket_id, l.kind, l.other_ticket_id) l.ticket_id, l.kind, l.other_ticket_id, l.listed_by, link_imported_tickets.import_id
    from listed l
    where l.added or exists (select from tasklens.imported_links i where (i.ticket_id, i.kind, i.other_ticket_id) = (l.ticket_id, l.kind, l.other_ticket_id))
    order by 1, 2, 3
    on conflict (ticket_id, kind, other_ticket_id) do update set listed_by = excluded.listed_by, import_id = excluded.import_id
  )
  select page[cardinality(page)], count(*)::integer, (count(*) filter (where l.ticket_id is null))::integer,
    (array_agg(concat_ws(' ', case when l.inward then l.other else l.key end, l.kind, case when l.inward then l.key else l.other end) || ': there is no ticket ' || l.other
      order by l.key, l.kind, l.other) filter (where l.ticket_id is null))[1:50]
  from listed l;
end
$$;
comment on function public.link_imported_tickets is 'Stores the links that an import lists, for the next match_count of its tickets by id. Returns the last id (null at the end), how many links these list, and how many of them, with examples, name an unknown ticket.';

-- Comments and links come first: those of a ticket are deleted with it.
create function tasklens.unlisted_rows(import_id bigint, row_limit integer)
returns table (ticket_id bigint, comment_id bigint, kind text, other_ticket_id bigint, what text)
language sql stable security invoker set search_path = ''
as $$
  with earlier as (
    select e.import_id from tasklens.imports i join tasklens.imports e on e.origin = i.origin and e.import_id < i.import_id
    where i.import_id = unlisted_rows.import_id
  )
  select * from (
    select t.ticket_id, c.comment_id, null::text, null::bigint, 'comment ' || c.key || ' of ' || t.key
    from tasklens.imported_tickets m
    cross join unnest(m.unlisted_comments) as u(comment_id)
    join public.comments c on c.comment_id = u.comment_id
    join public.tickets t on t.ticket_id = c.ticket_id
    where m.import_id = unlisted_rows.import_id and m.unlisted_comments <> '{}'
    union all
    select l.ticket_id, null, l.kind, l.other_ticket_id, 'link: ' || t.key || ' ' || l.kind || ' ' || o.key
    from tasklens.imported_links l
    join tasklens.imported_tickets m on m.ticket_id = l.listed_by
    join public.tickets t on t.ticket_id = l.ticket_id
    join public.tickets o on o.ticket_id = l.other_ticket_id
    where l.import_id in (select e.import_id from earlier e) and m.import_id = unlisted_rows.import_id and m.links is not null
    union all
    select t.ticket_id, null, null, null, 'ticket ' || t.key
    from tasklens.imported_tickets m
    -- One by one, by id: right after a first import, without statistics, a join may compare all
    -- tickets with all.
    cross join lateral (select x.ticket_id, x.key, x.project_id from public.tickets x where x.ticket_id = m.ticket_id limit 1) t
    where m.import_id in (select e.import_id from earlier e)
      and (select p.import_id from tasklens.imported_projects p where p.project_id = t.project_id) = unlisted_rows.import_id
  ) u
  limit unlisted_rows.row_limit
$$;
comment on function tasklens.unlisted_rows is 'What earlier imports of the same origin stored and this one, once it has ended, did not list: comments of tickets that have comments in it, links likewise, and tickets of its projects.';

-- Counts only, unless match_count says how many rows to delete.
create function public.prune_import(import_id bigint, match_count integer default 0)
returns table (stored integer, listed integer, tickets integer, comments integer, ticket_links integer, examples text[])
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  our_origin constant text := (select i.origin from tasklens.imports i where i.import_id = prune_import.import_id);
begin
  if prune_import.match_count > 0 and exists (select from tasklens.imports i where i.origin = our_origin and i.import_id > prune_import.import_id) then
    raise exception using errcode = 'object_not_in_prerequisite_state', message = 'A later import of the same origin has begun.', hint = 'Prune with that one.';
  end if;
  return query
  with gone as materialized (
    select * from tasklens.unlisted_rows(prune_import.import_id, case when prune_import.match_count > 0 then least(prune_import.match_count, 1000) end)
  ), gone_comments as (
    delete from public.comments c where prune_import.match_count > 0 and c.comment_id = any (array(select g.comment_id from gone g where g.comment_id is not null))
  ), gone_links as (
    delete from public.ticket_links l using gone g where prune_import.match_count > 0 and (l.ticket_id, l.kind, l.other_ticket_id) = (g.ticket_id, g.kind, g.other_ticket_id)
  ), locked as materialized (
    -- In order of ids, as in imports.
    select t.ticket_id from public.tickets t
    where prune_import.match_count > 0 and t.ticket_id = any (array(select g.ticket_id from gone g where g.comment_id is null and g.kind is null)) order by t.ticket_id for update
  ), gone_tickets as (
    delete from public.tickets t where t.ticket_id = any (array(select l.ticket_id from locked l))
  )
  select (select count(*) from tasklens.imported_tickets m where m.origin = our_origin)::integer, (select count(*) from tasklens.imported_tickets m where m.import_id = prune_import.import_id)::integer,
    (count(*) filter (where g.comment_id is null and g.kind is null))::integer, count(g.comment_id)::integer, count(g.kind)::integer, (array_agg(g.what))[:50]
  from gone g;
end
$$;
comment on function public.prune_import is 'How many tickets the import''s origin has, how many of them it listed, and how many rows earlier imports of the origin stored and this one, once complete, did not list, with examples. Deletes at most match_count of them, and counts these: call it until all are 0.';

insert into tasklens.migrations (version) values ('20261127001030');
