-- Values for a frontend's filters.

create function public.list_projects()
returns table (project_id bigint, key text, name text, tickets bigint)
language sql stable security invoker set search_path = ''
as $$
  select p.project_id, p.key, p.name, (select count(*) from public.tickets t where t.project_id = p.project_id)
  from public.projects p
  order by p.key
$$;
comment on function public.list_projects() is 'All projects that the caller may see, with their number of tickets, by key.';
revoke execute on function public.list_projects() from public, anon, authenticated;
grant execute on function public.list_projects() to authenticated, service_role;

create function public.list_statuses()
returns table (status_id bigint, name text)
language sql stable security invoker set search_path = ''
as $$
  select s.status_id, s.name from public.status s order by s.status_id
$$;
comment on function public.list_statuses() is 'All statuses, in order of creation.';
revoke execute on function public.list_statuses() from public, anon, authenticated;
grant execute on function public.list_statuses() to authenticated, service_role;

insert into private.migrations (version) values ('20260101001700');
