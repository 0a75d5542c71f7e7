-- Members of projects. Every function and policy that returns data checks membership here.

create type public.project_role as enum ('viewer', 'member', 'admin');
comment on type public.project_role is
  'What a user may do in a project, each role including the former: read (viewer), write tickets and notes (member), change the project and its members (admin).';

-- user_id is Supabase Auth's id. A user deleted there has no valid token, so leftover rows are
-- harmless.
create table public.project_members (
  project_id bigint not null references public.projects on delete cascade,
  user_id uuid not null,
  role public.project_role not null default 'viewer',
  created_at timestamptz not null default now(),
  primary key (user_id, project_id)
);
comment on table public.project_members is 'The members of each project with their roles. A user without a project sees nothing.';
create index project_members_project_id_idx on public.project_members (project_id);

-- Reads the setting role, which the request set: "security definer" changes current_user to the
-- owner, but not that setting.
create function tasklens.is_unrestricted() returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return coalesce((
    select r.rolbypassrls or r.rolsuper or pg_has_role(r.oid, current_user, 'usage')
    from pg_catalog.pg_roles r
    where r.rolname = coalesce(nullif(current_setting('role', true), 'none'), session_user)), false);
end
$$;
comment on function tasklens.is_unrestricted is 'Whether the caller bypasses row-level security: the service, the owner of the tables, a superuser.';

-- Ordered, so that equal sets are equal arrays.
create function tasklens.projects_as(least_role public.project_role) returns bigint[]
language plpgsql stable security definer set search_path = ''
as $$
begin
  if tasklens.is_unrestricted() then
    return null;
  end if;
  return array(
    select m.project_id from public.project_members m
    where m.user_id = (select auth.uid()) and m.role >= least_role
    order by m.project_id);
end
$$;
comment on function tasklens.projects_as is
  'The projects in which the caller has at least this role, in order; null, which means all, for unrestricted callers. Policies wrap it in "(select …)::bigint[]", which runs once per statement.';

alter table public.project_members enable row level security;
revoke all on public.project_members from anon, authenticated, service_role;
grant select, insert, update, delete on public.project_members to service_role;
-- An upsert through PostgREST sets every column that it sends, so updating the key must be granted.
grant select, insert (project_id, user_id, role), update (project_id, user_id, role), delete on public.project_members to authenticated;
create policy read_members on public.project_members for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));
create policy insert_members on public.project_members for insert to authenticated
  with check (project_id = any ((select tasklens.projects_as('admin'))::bigint[]));
create policy update_members on public.project_members for update to authenticated
  using (project_id = any ((select tasklens.projects_as('admin'))::bigint[]))
  with check (project_id = any ((select tasklens.projects_as('admin'))::bigint[]));
create policy delete_members on public.project_members for delete to authenticated
  using (project_id = any ((select tasklens.projects_as('admin'))::bigint[]));

-- A policy cannot compare the new row with the old one.
create function tasklens.keep_member() returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if not tasklens.is_unrestricted() then
    raise exception 'a membership cannot move to another user or project' using errcode = '42501', hint = 'Delete it and insert a new one.';
  end if;
  return new;
end
$$;
comment on function tasklens.keep_member is 'Trigger: keeps users from changing the user or project of a membership.';
create trigger keep_member before update of user_id, project_id on public.project_members
  for each row when ((old.user_id, old.project_id) is distinct from (new.user_id, new.project_id)) execute function tasklens.keep_member();

-- The service calls this with a user's token to learn the user's rights.
create function public.caller_role() returns text
language plpgsql stable security invoker set search_path = ''
as $$
begin
  if tasklens.is_unrestricted() then
    return 'service';
  end if;
  -- Uses projects_as, the only function that reads roles.
  return case
    when tasklens.projects_as('admin') <> '{}' then 'admin'
    when tasklens.projects_as('member') <> '{}' then 'member'
    when tasklens.projects_as('viewer') <> '{}' then 'viewer'
    else 'none' end;
end
$$;
comment on function public.caller_role is 'The caller''s highest role in any project: admin, member, viewer or none; service for unrestricted callers.';

create function public.may_write_project(project_id bigint) returns boolean
language plpgsql stable security invoker set search_path = ''
as $$
declare
  writable constant bigint[] := tasklens.projects_as('member');
begin
  return writable is null or coalesce(project_id = any (writable), false);
end
$$;
comment on function public.may_write_project is 'Whether the caller may write tickets and notes of a project.';

insert into tasklens.migrations (version) values ('20261127000200');
