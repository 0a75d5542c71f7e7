-- Members of projects. Every function and policy that returns data checks membership here.

create type public.project_role as enum ('viewer', 'member', 'admin');
comment on type public.project_role is
  'What a user may do in a project, each role including the former: read (viewer), write tickets and notes (member), change the project and its members (admin).';

-- The subject of a token is a UUID from Supabase Auth, and may be another text from elsewhere
-- (Clerk, Firebase, Auth0), which auth.uid() cannot read.
create function public.user_id_of(subject text) returns uuid
language sql immutable security invoker set search_path = ''
as $$
  select case when subject ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then subject::uuid
    when subject <> '' then encode(substr(sha256(convert_to(subject, 'utf8')), 1, 16), 'hex')::uuid end
$$;
comment on function public.user_id_of is 'The user_id that a token''s subject has in project_members and document_votes: the subject itself if it is a UUID, else a digest of it.';

create function tasklens.user_id() returns uuid
language sql stable security invoker set search_path = ''
as $$
  select public.user_id_of(coalesce(nullif(current_setting('request.jwt.claim.sub', true), ''), auth.jwt() ->> 'sub'))
$$;
comment on function tasklens.user_id is 'The caller''s id, whoever issued the token; null without a user.';

-- The rows of a user deleted in Supabase Auth stay, and give rights until the last token expires.
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
    where m.user_id = (select tasklens.user_id()) and m.role >= least_role
    order by m.project_id);
end
$$;
comment on function tasklens.projects_as is
  'The projects in which the caller has at least this role, in order; null, which means all, for unrestricted callers. Policies wrap it in "(select …)::bigint[]", which runs once per statement.';

alter table public.project_members enable row level security;
create policy read_members on public.project_members for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));
create policy insert_members on public.project_members for insert to authenticated
  with check (project_id = any ((select tasklens.projects_as('admin'))::bigint[]));
-- Without a "with check", here and below, the new row must pass what the old one must.
create policy update_members on public.project_members for update to authenticated
  using (project_id = any ((select tasklens.projects_as('admin'))::bigint[]));
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

-- Policies of the tracker's tables. Searches do not rely on them: they determine what the caller
-- may see in advance (see resolve_scope), because filtering after an index scan loses results.

-- Status names reveal nothing about a project.
create policy read_statuses on public.status for select to authenticated
  using ((select tasklens.user_id()) is not null);

-- A new project has no admin yet, so the service creates it with its first member.
create policy select_projects on public.projects for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));
create policy update_projects on public.projects for update to authenticated
  using (project_id = any ((select tasklens.projects_as('admin'))::bigint[]));
create policy delete_projects on public.projects for delete to authenticated
  using (project_id = any ((select tasklens.projects_as('admin'))::bigint[]));

-- A ticket can only move between projects that the user may write.
create policy select_tickets on public.tickets for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));
create policy insert_tickets on public.tickets for insert to authenticated
  with check (project_id = any ((select tasklens.projects_as('member'))::bigint[]));
create policy update_tickets on public.tickets for update to authenticated
  using (project_id = any ((select tasklens.projects_as('member'))::bigint[]));
create policy delete_tickets on public.tickets for delete to authenticated
  using (project_id = any ((select tasklens.projects_as('member'))::bigint[]));

-- Notes, comments and links have no project of their own. The subqueries see only tickets that
-- their policy shows.
create policy select_status_changes on public.status_changes for select to authenticated
  using (exists (select from public.tickets t where t.ticket_id = status_changes.ticket_id));
create policy insert_status_changes on public.status_changes for insert to authenticated
  with check (exists (select from public.tickets t where t.ticket_id = status_changes.ticket_id and t.project_id = any ((select tasklens.projects_as('member'))::bigint[])));
create policy update_status_changes on public.status_changes for update to authenticated
  using (exists (select from public.tickets t where t.ticket_id = status_changes.ticket_id and t.project_id = any ((select tasklens.projects_as('member'))::bigint[])));
create policy delete_status_changes on public.status_changes for delete to authenticated
  using (exists (select from public.tickets t where t.ticket_id = status_changes.ticket_id and t.project_id = any ((select tasklens.projects_as('member'))::bigint[])));
create policy select_comments on public.comments for select to authenticated
  using (exists (select from public.tickets t where t.ticket_id = comments.ticket_id));
create policy insert_comments on public.comments for insert to authenticated
  with check (exists (select from public.tickets t where t.ticket_id = comments.ticket_id and t.project_id = any ((select tasklens.projects_as('member'))::bigint[])));
create policy update_comments on public.comments for update to authenticated
  using (exists (select from public.tickets t where t.ticket_id = comments.ticket_id and t.project_id = any ((select tasklens.projects_as('member'))::bigint[])));
create policy delete_comments on public.comments for delete to authenticated
  using (exists (select from public.tickets t where t.ticket_id = comments.ticket_id and t.project_id = any ((select tasklens.projects_as('member'))::bigint[])));

-- Users see a link if they see both tickets, and may write it if they may also write in the first
-- ticket's project.
create policy select_ticket_links on public.ticket_links for select to authenticated
  using (exists (select from public.tickets t where t.ticket_id = ticket_links.ticket_id) and exists (select from public.tickets t where t.ticket_id = ticket_links.other_ticket_id));
create policy insert_ticket_links on public.ticket_links for insert to authenticated
  with check (exists (select from public.tickets t where t.ticket_id = ticket_links.ticket_id and t.project_id = any ((select tasklens.projects_as('member'))::bigint[])) and exists (select from public.tickets t where t.ticket_id = ticket_links.other_ticket_id));
create policy delete_ticket_links on public.ticket_links for delete to authenticated
  using (exists (select from public.tickets t where t.ticket_id = ticket_links.ticket_id and t.project_id = any ((select tasklens.projects_as('member'))::bigint[])) and exists (select from public.tickets t where t.ticket_id = ticket_links.other_ticket_id));

insert into tasklens.migrations (version) values ('20261127000200');
