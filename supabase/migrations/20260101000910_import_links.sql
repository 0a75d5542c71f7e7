-- The second half of an import: links, once all tickets exist, and the removal of rows that a later
-- export no longer contains.

create function public.upsert_ticket_links(links jsonb)
returns table (key text, kind text, other_key text)
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  insert into public.ticket_links (ticket_id, kind, other_ticket_id)
  select distinct t.ticket_id, l ->> 'kind', o.ticket_id
  from jsonb_array_elements(upsert_ticket_links.links) l
  join public.tickets t on upper(t.key) = upper(l ->> 'key')
  join public.tickets o on upper(o.key) = upper(l ->> 'other_key')
  where t.ticket_id <> o.ticket_id
    -- relates_to is symmetric and stored once, in either direction.
    and not (l ->> 'kind' = 'relates_to' and exists (
      select 1 from public.ticket_links r where r.ticket_id = o.ticket_id and r.kind = 'relates_to' and r.other_ticket_id = t.ticket_id))
  order by 1, 2, 3
  on conflict do nothing;
  return query
  select l ->> 'key', l ->> 'kind', l ->> 'other_key'
  from jsonb_array_elements(upsert_ticket_links.links) with ordinality as x(l, place)
  where not exists (select 1 from public.tickets t where upper(t.key) = upper(l ->> 'key'))
    or not exists (select 1 from public.tickets t where upper(t.key) = upper(l ->> 'other_key'))
  order by x.place;
end
$$;
comment on function public.upsert_ticket_links(jsonb) is
  'Adds links between tickets by their keys: [{key, kind, other_key}]. Returns those with an unknown ticket, which are skipped.';
revoke execute on function public.upsert_ticket_links(jsonb) from public, anon, authenticated;
grant execute on function public.upsert_ticket_links(jsonb) to service_role;

create function public.list_ticket_keys(project_ids bigint[], after bigint default 0, match_count integer default 1000)
returns table (ticket_id bigint, key text)
language sql stable security invoker set search_path = ''
as $$
  select t.ticket_id, t.key from public.tickets t
  where t.project_id = any(list_ticket_keys.project_ids) and t.ticket_id > list_ticket_keys.after
  order by t.ticket_id
  limit private.clamp(list_ticket_keys.match_count, 1000, 1, 10000)
$$;
comment on function public.list_ticket_keys(bigint[], bigint, integer) is
  'A page of the tickets of some projects in order of ids, starting after the given id. At most 10,000.';
revoke execute on function public.list_ticket_keys(bigint[], bigint, integer) from public, anon, authenticated;
grant execute on function public.list_ticket_keys(bigint[], bigint, integer) to service_role;

create function public.find_unlisted(tickets jsonb)
returns table (ticket_key text, comment_id bigint, comment_key text, kind text, other_key text)
language sql stable security invoker set search_path = ''
as $$
  select t.key, c.comment_id, c.key, null::text, null::text
  from jsonb_array_elements(find_unlisted.tickets) g
  join public.tickets t on upper(t.key) = upper(g ->> 'key')
  join public.comments c on c.ticket_id = t.ticket_id
  where jsonb_typeof(g -> 'comments') = 'array' and c.key is not null
    and c.key not in (select jsonb_array_elements_text(g -> 'comments'))
  union all
  select t.key, null::bigint, null::text, l.kind, o.key
  from jsonb_array_elements(find_unlisted.tickets) g
  join public.tickets t on upper(t.key) = upper(g ->> 'key')
  join public.ticket_links l on l.ticket_id = t.ticket_id
  join public.tickets o on o.ticket_id = l.other_ticket_id
  where (g -> 'links')::boolean
  order by 1, 2, 4, 5
$$;
comment on function public.find_unlisted(jsonb) is
  'For [{key, comments: [key], links: boolean}]: the comments with a key that is not among those given, and, where links is true, all links from the ticket. A missing list is skipped.';
revoke execute on function public.find_unlisted(jsonb) from public, anon, authenticated;
grant execute on function public.find_unlisted(jsonb) to service_role;

create function public.prune_tickets(ticket_ids bigint[] default '{}', comment_ids bigint[] default '{}', links jsonb default '[]')
returns table (tickets integer, comments integer, ticket_links integer)
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  -- Locked in order of ids, as in imports.
  perform 1 from public.tickets t where t.ticket_id = any(prune_tickets.ticket_ids) order by t.ticket_id for update;
  delete from public.tickets t where t.ticket_id = any(prune_tickets.ticket_ids);
  get diagnostics tickets = row_count;
  delete from public.comments c where c.comment_id = any(prune_tickets.comment_ids);
  get diagnostics comments = row_count;
  delete from public.ticket_links l using jsonb_array_elements(prune_tickets.links) g, public.tickets t, public.tickets o
  where upper(t.key) = upper(g ->> 'key') and upper(o.key) = upper(g ->> 'other_key')
    and l.ticket_id = t.ticket_id and l.kind = g ->> 'kind' and l.other_ticket_id = o.ticket_id;
  get diagnostics ticket_links = row_count;
  return next;
end
$$;
comment on function public.prune_tickets(bigint[], bigint[], jsonb) is
  'Deletes tickets with everything attached, comments, and links [{key, kind, other_key}]. Returns how many of each.';
revoke execute on function public.prune_tickets(bigint[], bigint[], jsonb) from public, anon, authenticated;
grant execute on function public.prune_tickets(bigint[], bigint[], jsonb) to service_role;

insert into private.migrations (version) values ('20260101000910');
