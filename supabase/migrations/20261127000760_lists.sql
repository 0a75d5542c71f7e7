-- Values for a frontend's filters. A caller reads them in pages, by key: hosted PostgREST cuts a
-- longer response without a sign.

create function public.list_projects(after text default '', match_count integer default 1000)
returns table (project_id bigint, key text, name text, tickets bigint)
language sql stable security invoker set search_path = ''
as $$
  select p.project_id, p.key, p.name, (select count(*) from public.tickets t where t.project_id = p.project_id)
  from public.projects p
  where p.key > coalesce(list_projects.after, '')
  order by p.key
  limit tasklens.clamp(list_projects.match_count, 1000, 1, 1000)
$$;
comment on function public.list_projects is
  'The projects that the caller may see, with their number of tickets, by key. match_count at most 1,000; after: the last key of the previous page. No rows follow the last page.';

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

insert into tasklens.migrations (version) values ('20261127000760');
