-- What is read without a search: tickets that pass filters, by date; the values of filters; and one
-- ticket with everything that belongs to it.

create function public.list_tickets(
  match_count integer default 10,
  match_offset integer default 0,
  sort text default 'newest',
  filters jsonb default null
)
returns table (
  ticket_id bigint, text text, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, highlight text, has_more boolean,
  fields jsonb
)
language plpgsql stable rows 10 security invoker set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  page_size constant integer := tasklens.clamp(match_count, 10, 1, 100);
  page_start constant integer := tasklens.clamp(match_offset, 0, 0, 1000);
  by_time constant text := case sort when 'newest' then 'created_at' when 'updated' then 'updated_at' end;
  page bigint[];
begin
  if by_time is null then
    raise exception 'sort is "%"', sort using errcode = '22023', hint = 'Use newest or updated.';
  end if;
  page := array(
    select m.ticket_id
    from tasklens.find_matches(null, null, null, null, array[tasklens.check_arguments(filters)], page_start + page_size + 1, by_time)
      with ordinality m(filtered, project_id, ticket_id, complete, place)
    order by m.place offset page_start);
  return query
  select t.ticket_id, shown.text, p.project_id, p.name, t.key, t.name, s.name, tasklens.highlight(shown.text, null), cardinality(page) > page_size,
    tasklens.ticket_fields(t.ticket_id)
  from unnest(page[1:page_size]) with ordinality as g(ticket_id, place)
  join public.tickets t on t.ticket_id = g.ticket_id
  join public.projects p on p.project_id = t.project_id
  join public.status s on s.status_id = t.status_id
  cross join lateral (select left(concat_ws(e'\n\n', t.name, nullif(coalesce(t.visible_text, t.description), '')), 2000) as text) shown
  order by g.place;
end
$$;
comment on function public.list_tickets is
  'Tickets that pass the filters, latest first by creation (sort newest) or change (updated), with the columns of search_hybrid that apply to a list; text is the beginning of the ticket. match_count at most 100, match_offset 1,000; has_more: another page follows. Projects'' own texts are not listed.';

create function public.list_projects(after text default '', match_count integer default 1000)
returns table (project_id bigint, key text, name text, tickets bigint, language text)
language sql stable security invoker set search_path = ''
as $$
  select p.project_id, p.key, p.name, (select count(*) from public.tickets t where t.project_id = p.project_id), p.language
  from public.projects p
  where p.key > coalesce(list_projects.after, '')
  order by p.key
  limit tasklens.clamp(list_projects.match_count, 1000, 1, 1000)
$$;
comment on function public.list_projects is
  'The projects that the caller may see, with their number of tickets, by key; language as in projects. match_count at most 1,000; after: the last key of the previous page. No rows follow the last page.';

-- As an update of projects.language, which would tell nobody that it changed no row.
create function public.set_project_language(project_id bigint, language text) returns boolean
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  update public.projects p set language = set_project_language.language where p.project_id = set_project_language.project_id;
  if not found and not tasklens.is_unrestricted() then
    raise exception 'only an admin of a project sets its language' using errcode = '42501';
  end if;
  return found;
end
$$;
comment on function public.set_project_language is
  'Sets the language in which a project''s texts are searched, as Postgres names it (german); null: that of search_config. False if there is no such project. Errors: 42501 for a user who is not its admin, there or not, 22023 with the list for an unknown language.';

create function public.list_statuses(after bigint default 0, match_count integer default 1000)
returns table (status_id bigint, name text)
language sql stable security invoker set search_path = ''
as $$
  select s.status_id, s.name
  from public.status s
  where s.status_id > coalesce(list_statuses.after, 0)
  order by s.status_id
  limit tasklens.clamp(list_statuses.match_count, 1000, 1, 1000)
$$;
comment on function public.list_statuses is
  'The statuses, in order of creation. match_count at most 1,000; after: the last status_id of the previous page. No rows follow the last page.';

-- Security definer, because under row-level security upper() cannot use an index. It reads only
-- what the caller may see.
create function tasklens.find_ticket(key text) returns bigint
language plpgsql stable security definer set search_path = ''
as $$
declare
  visible constant bigint[] := tasklens.projects_as('viewer');
  -- Of an address: its page, else a key in it.
  names constant text[] := tasklens.page_names(find_ticket.key) || array(
    select upper(case when find_ticket.key like '%/%' then m[1] else find_ticket.key end)
    from regexp_matches(find_ticket.key, case when find_ticket.key like '%/%' then '(?<=[/?&#=])([[:alnum:]_]+(?:-[[:alnum:]_]+)*-[0-9]+)(?![[:alnum:]])' else '^.*$' end, 'g') m);
begin
  return (
    select t.ticket_id from tasklens.keyed_tickets(names) k join public.tickets t using (ticket_id)
    where visible is null or t.project_id = any (visible)
    order by array_position(names, k.key) limit 1);
end
$$;
comment on function tasklens.find_ticket is 'The id of the ticket with this key, or that had it, or with this address in its tracker, without regard to case; null if there is none that the caller may see.';

create function public.get_ticket(
  ticket_id bigint default null,
  ticket_key text default null,
  comment_limit integer default 20,
  comment_offset integer default 0,
  comment_id bigint default null,
  text_offset integer default 0,
  visible boolean default false
)
returns table (
  ticket_id bigint, ticket_key text, ticket_name text, project_id bigint, project_key text, project_name text, status text, status_category text,
  description text, description_truncated_at integer, fields jsonb, status_changes jsonb, comment_count bigint, comments jsonb
)
language sql stable rows 1 security invoker set search_path = ''
as $$
  select t.ticket_id, t.key, t.name, p.project_id, p.key, p.name, s.name, s.category,
    d.piece, d.truncated_at, tasklens.ticket_fields(t.ticket_id), changes.list,
    (select count(*) from public.comments c where c.ticket_id = t.ticket_id), page.list
  from public.tickets t
  join public.projects p on p.project_id = t.project_id
  join public.status s on s.status_id = t.status_id
  cross join tasklens.clamp(get_ticket.text_offset, 0, 0, 1000000000) skipped
  cross join tasklens.cut_text(case when get_ticket.visible then coalesce(t.visible_text, t.description) else t.description end, case when get_ticket.comment_id is null then skipped else 0 end, tasklens.text_limit()) d
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object(
      'status', x.status, 'note', n.piece, 'truncated_at', n.truncated_at, 'created_at', x.created_at)
      order by x.status_change_id), '[]') as list
    from (
      select h.status_change_id, n.name as status, case when get_ticket.visible then coalesce(h.visible_text, h.note) else h.note end as note, h.created_at
      from public.status_changes h
      left join public.status n on n.status_id = h.status_id
      where h.ticket_id = t.ticket_id
      order by h.status_change_id desc
      limit 100
    ) x
    cross join tasklens.cut_text(x.note, 0, 2000) n
  ) changes
  -- The comments of a page share text_limit; after that 2,000 characters of each are left.
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object(
      'comment_id', x.comment_id, 'author', left(x.author, 200), 'body', b.piece, 'body_bytes', octet_length(x.body),
      'truncated_at', b.truncated_at, 'created_at', x.created_at, 'updated_at', x.updated_at)
      order by x.created_at, x.comment_id), '[]') as list
    from (
      select p.*, coalesce(sum(octet_length(p.body)) over (
        order by p.created_at, p.comment_id rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (
        select c.comment_id, c.author, case when get_ticket.visible then coalesce(c.visible_text, c.body) else c.body end as body, c.created_at, c.updated_at
        from public.comments c
        where c.ticket_id = t.ticket_id and (get_ticket.comment_id is null or c.comment_id = get_ticket.comment_id)
        order by c.created_at, c.comment_id
        limit tasklens.clamp(get_ticket.comment_limit, 20, 1, 100)
        offset greatest(0, get_ticket.comment_offset)
      ) p
    ) x
    cross join tasklens.cut_text(x.body, case when get_ticket.comment_id is null then 0 else skipped end,
      greatest(2000, tasklens.text_limit() - x.bytes_before)::integer) b
  ) page
  -- In a subquery, because coalesce() does not count as leakproof: beneath a policy, it would be
  -- computed for every ticket.
  where t.ticket_id = (select coalesce(get_ticket.ticket_id, tasklens.find_ticket(get_ticket.ticket_key)))
$$;
comment on function public.get_ticket is
  'A ticket by its id, or by its key without regard to case, with its fields as in search_hybrid, its last 100 changes of status, and a page of at most 100 comments, oldest first. The description has at most 200,000 characters, each note 2,000; the comments share 200,000, but each has its first 2,000. truncated_at: where the rest of a text begins. comment_id: only that comment. text_offset: characters of it to skip, or without comment_id of the description. visible: its texts as readers see them. No row if the caller sees none.';

insert into tasklens.migrations (version) values ('20261127000740');
