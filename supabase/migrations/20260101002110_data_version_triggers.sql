-- What moves the version: whatever can change a result, in the writer's transaction, for the projects it touches. Times
-- alone, and rows written as they were, do not. A status note counts where its ticket is, before and after a move.

create function private.version_new_rows() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(select distinct n.project_id from new_rows n));
  return null;
end
$$;
comment on function private.version_new_rows() is 'Trigger: moves the version of the projects of inserted rows.';

create function private.version_new_chunks() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(select distinct n.project_id from new_rows n where n.generation is null));
  return null;
end
$$;
comment on function private.version_new_chunks() is 'Trigger: moves the version of the projects of inserted chunks. Staged ones move it when they are shown.';

create function private.version_old_rows() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(select distinct o.project_id from old_rows o));
  return null;
end
$$;
comment on function private.version_old_rows() is 'Trigger: moves the version of the projects of deleted rows.';

create function private.version_updated_projects() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(
    select distinct unnest(array[n.project_id, o.project_id]) from new_rows n full join old_rows o using (project_id)
    where (n.project_id, n.name, n.description) is distinct from (o.project_id, o.name, o.description)));
  return null;
end
$$;
comment on function private.version_updated_projects() is 'Trigger: moves the version of projects whose texts changed.';

create function private.version_updated_tickets() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(
    select distinct unnest(array[n.project_id, o.project_id]) from new_rows n full join old_rows o using (ticket_id)
    where (n.project_id, n.status_id, n.key, n.name, n.description)
      is distinct from (o.project_id, o.status_id, o.key, o.name, o.description)));
  return null;
end
$$;
comment on function private.version_updated_tickets() is 'Trigger: moves the version of projects whose tickets changed, of both where one moved.';

create function private.version_updated_chunks() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(
    select distinct unnest(array[n.project_id, o.project_id]) from new_rows n full join old_rows o using (chunk_id)
    where (n.project_id, n.ticket_id, n.kind, n.position, n.text, n.tokens, n.model)
        is distinct from (o.project_id, o.ticket_id, o.kind, o.position, o.text, o.tokens, o.model)
      or n.embedding operator(extensions.<>) o.embedding));
  return null;
end
$$;
comment on function private.version_updated_chunks() is 'Trigger: moves the version of projects whose chunks changed.';

-- A new status has no tickets, and one that is deleted had none left: only a new name shows.
create function private.version_renamed_statuses() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if exists (
    select 1 from new_rows n full join old_rows o using (status_id) where (n.status_id, n.name) is distinct from (o.status_id, o.name)
  ) then
    perform private.change_data_version(array[0]);
  end if;
  return null;
end
$$;
comment on function private.version_renamed_statuses() is 'Trigger: moves the version of everything when a status has a new name.';

create function private.version_status_notes() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  changed bigint[]; -- tickets
begin
  -- A branch for each event: only its own transition tables exist.
  if tg_op = 'INSERT' then
    changed := array(select distinct n.ticket_id from new_rows n where n.note is not null);
  elsif tg_op = 'DELETE' then
    changed := array(select distinct o.ticket_id from old_rows o where o.note is not null);
  else
    changed := array(
      select distinct unnest(array[n.ticket_id, o.ticket_id]) from new_rows n full join old_rows o using (status_change_id)
      where (n.note, n.ticket_id) is distinct from (o.note, o.ticket_id));
  end if;
  -- A ticket that is gone has moved the version itself.
  if cardinality(changed) > 0 then
    perform private.change_data_version(array(select distinct t.project_id from public.tickets t where t.ticket_id = any (changed)));
  end if;
  return null;
end
$$;
comment on function private.version_status_notes() is 'Trigger: moves the version of projects whose status notes changed.';

-- Another role shows nothing else.
create function private.version_memberships() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  changed uuid[]; -- users
begin
  -- A branch for each event: only its own transition tables exist.
  if tg_op = 'INSERT' then
    changed := array(select distinct n.user_id from new_rows n);
  elsif tg_op = 'DELETE' then
    changed := array(select distinct o.user_id from old_rows o);
  else
    changed := array(
      select distinct user_id from new_rows n full join old_rows o using (user_id, project_id)
      where n.role is null or o.role is null);
  end if;
  perform private.change_data_version(array(select distinct private.membership_version(u) from unnest(changed) as u));
  return null;
end
$$;
comment on function private.version_memberships() is 'Trigger: moves the version of users whose memberships changed.';

create function private.version_truncated() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array[0]);
  return null;
end
$$;
comment on function private.version_truncated() is 'Trigger: moves the version of everything when a table is emptied, or another set of chunks serves.';

revoke execute on function private.version_new_rows() from public;
revoke execute on function private.version_new_chunks() from public;
revoke execute on function private.version_old_rows() from public;
revoke execute on function private.version_updated_projects() from public;
revoke execute on function private.version_updated_tickets() from public;
revoke execute on function private.version_updated_chunks() from public;
revoke execute on function private.version_renamed_statuses() from public;
revoke execute on function private.version_status_notes() from public;
revoke execute on function private.version_memberships() from public;
revoke execute on function private.version_truncated() from public;

create trigger version_new_projects after insert on public.projects
  referencing new table as new_rows for each statement execute function private.version_new_rows();
create trigger version_updated_projects after update on public.projects
  referencing old table as old_rows new table as new_rows for each statement execute function private.version_updated_projects();
create trigger version_deleted_projects after delete on public.projects
  referencing old table as old_rows for each statement execute function private.version_old_rows();
create trigger version_new_tickets after insert on public.tickets
  referencing new table as new_rows for each statement execute function private.version_new_rows();
create trigger version_updated_tickets after update on public.tickets
  referencing old table as old_rows new table as new_rows for each statement execute function private.version_updated_tickets();
create trigger version_deleted_tickets after delete on public.tickets
  referencing old table as old_rows for each statement execute function private.version_old_rows();
create trigger version_new_chunks after insert on public.chunks
  referencing new table as new_rows for each statement execute function private.version_new_chunks();
create trigger version_shown_chunks after delete on private.staged_generations
  referencing old table as old_rows for each statement execute function private.version_old_rows();
create trigger version_updated_chunks after update on public.chunks
  referencing old table as old_rows new table as new_rows for each statement execute function private.version_updated_chunks();
create trigger version_deleted_chunks after delete on public.chunks
  referencing old table as old_rows for each statement execute function private.version_old_rows();
create trigger version_new_notes after insert on public.status_changes
  referencing new table as new_rows for each statement execute function private.version_status_notes();
create trigger version_updated_notes after update on public.status_changes
  referencing old table as old_rows new table as new_rows for each statement execute function private.version_status_notes();
create trigger version_deleted_notes after delete on public.status_changes
  referencing old table as old_rows for each statement execute function private.version_status_notes();
create trigger version_renamed_statuses after update on public.status
  referencing old table as old_rows new table as new_rows for each statement execute function private.version_renamed_statuses();
create trigger version_new_members after insert on public.project_members
  referencing new table as new_rows for each statement execute function private.version_memberships();
create trigger version_updated_members after update on public.project_members
  referencing old table as old_rows new table as new_rows for each statement execute function private.version_memberships();
create trigger version_deleted_members after delete on public.project_members
  referencing old table as old_rows for each statement execute function private.version_memberships();

create trigger version_emptied_members after truncate on public.project_members for each statement execute function private.version_truncated();
create trigger version_emptied_projects after truncate on public.projects for each statement execute function private.version_truncated();
create trigger version_emptied_tickets after truncate on public.tickets for each statement execute function private.version_truncated();
create trigger version_emptied_chunks after truncate on public.chunks for each statement execute function private.version_truncated();
create trigger version_emptied_notes after truncate on public.status_changes for each statement execute function private.version_truncated();
create trigger version_switched_sets after update of serving on private.embedding_sets for each statement execute function private.version_truncated();
create trigger version_emptied_entries after truncate on public.keyword_entries for each statement execute function private.version_truncated();

insert into private.migrations (version) values ('20260101002110');
