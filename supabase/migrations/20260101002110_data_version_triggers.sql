-- Triggers that change the version of the affected projects in the writer's transaction, for
-- everything that can change a result. Rows rewritten with the same values are ignored. A status
-- note, a comment or a link counts for its ticket's project, before and after a move.

create function private.version_new_rows() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(select distinct n.project_id from new_rows n));
  return null;
end
$$;
comment on function private.version_new_rows is 'Trigger: changes the version of the projects of inserted rows.';

create function private.version_old_rows() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(select distinct o.project_id from old_rows o));
  return null;
end
$$;
comment on function private.version_old_rows is 'Trigger: changes the version of the projects of deleted rows.';

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
comment on function private.version_updated_projects is 'Trigger: changes the version of projects whose texts changed.';

create function private.version_updated_tickets() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array(
    select distinct unnest(array[n.project_id, o.project_id]) from new_rows n full join old_rows o using (ticket_id)
    where (n.project_id, n.status_id, n.key, n.name, n.description,
        n.assignee, n.reporter, n.ticket_type, n.priority, n.labels, n.due_date, n.resolved_at, n.created_at, n.updated_at)
      is distinct from (o.project_id, o.status_id, o.key, o.name, o.description,
        o.assignee, o.reporter, o.ticket_type, o.priority, o.labels, o.due_date, o.resolved_at, o.created_at, o.updated_at)));
  return null;
end
$$;
comment on function private.version_updated_tickets is 'Trigger: changes the version of projects whose tickets changed; if a ticket moved, of both projects.';

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
comment on function private.version_updated_chunks is 'Trigger: changes the version of projects whose chunks changed.';

-- A new status has no tickets and a deleted one has none left: only a new name or category matters.
create function private.version_renamed_statuses() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if exists (
    select 1 from new_rows n full join old_rows o using (status_id) where (n.status_id, n.name, n.category) is distinct from (o.status_id, o.name, o.category)
  ) then
    perform private.change_data_version(array[0]);
  end if;
  return null;
end
$$;
comment on function private.version_renamed_statuses is 'Trigger: changes the version of everything when a status gets a new name or category.';

create function private.version_status_notes() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  changed bigint[]; -- tickets
begin
  -- One branch per event, because only its own transition tables exist.
  if tg_op = 'INSERT' then
    changed := array(select distinct n.ticket_id from new_rows n where n.note is not null);
  elsif tg_op = 'DELETE' then
    changed := array(select distinct o.ticket_id from old_rows o where o.note is not null);
  else
    changed := array(
      select distinct unnest(array[n.ticket_id, o.ticket_id]) from new_rows n full join old_rows o using (status_change_id)
      where (n.note, n.ticket_id) is distinct from (o.note, o.ticket_id));
  end if;
  -- A deleted ticket has already changed the version.
  if cardinality(changed) > 0 then
    perform private.change_data_version(array(select distinct t.project_id from public.tickets t where t.ticket_id = any (changed)));
  end if;
  return null;
end
$$;
comment on function private.version_status_notes is 'Trigger: changes the version of projects whose status notes changed.';

create function private.version_comments() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  changed bigint[]; -- tickets
begin
  -- One branch per event, because only its own transition tables exist.
  if tg_op = 'INSERT' then
    changed := array(select distinct n.ticket_id from new_rows n);
  elsif tg_op = 'DELETE' then
    changed := array(select distinct o.ticket_id from old_rows o);
  else
    changed := array(
      select distinct unnest(array[n.ticket_id, o.ticket_id]) from new_rows n full join old_rows o using (comment_id)
      where (n.ticket_id, n.author, n.body, n.created_at) is distinct from (o.ticket_id, o.author, o.body, o.created_at));
  end if;
  if cardinality(changed) > 0 then
    perform private.change_data_version(array(select distinct t.project_id from public.tickets t where t.ticket_id = any (changed)));
  end if;
  return null;
end
$$;
comment on function private.version_comments is 'Trigger: changes the version of projects whose comments changed.';

create function private.version_links() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  changed bigint[]; -- tickets
begin
  -- One branch per event, because only its own transition tables exist.
  if tg_op = 'INSERT' then
    changed := array(select distinct unnest(array[n.ticket_id, n.other_ticket_id]) from new_rows n);
  elsif tg_op = 'DELETE' then
    changed := array(select distinct unnest(array[o.ticket_id, o.other_ticket_id]) from old_rows o);
  else
    changed := array(
      select distinct unnest(array[x.ticket_id, x.other_ticket_id])
      from (
        (select n.ticket_id, n.kind, n.other_ticket_id from new_rows n except select o.ticket_id, o.kind, o.other_ticket_id from old_rows o)
        union all
        (select o.ticket_id, o.kind, o.other_ticket_id from old_rows o except select n.ticket_id, n.kind, n.other_ticket_id from new_rows n)
      ) x);
  end if;
  if cardinality(changed) > 0 then
    perform private.change_data_version(array(select distinct t.project_id from public.tickets t where t.ticket_id = any (changed)));
  end if;
  return null;
end
$$;
comment on function private.version_links is 'Trigger: changes the version of projects whose ticket links changed.';

-- A changed role does not change what the member can see.
create function private.version_memberships() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  changed uuid[]; -- users
begin
  -- One branch per event, because only its own transition tables exist.
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
comment on function private.version_memberships is 'Trigger: changes the version of users whose memberships changed.';

create function private.version_truncated() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array[0]);
  return null;
end
$$;
comment on function private.version_truncated is 'Trigger: changes the version of everything when a table is truncated or another set of chunks becomes active.';

-- The version of documents is that of project -1. It changes with texts, the archived flag and
-- vectors. Retrievals, votes and enrichments do not affect cached responses.

create function private.version_documents() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  moves boolean;
begin
  -- A statement that writes no row fires the trigger too.
  case tg_op
    when 'INSERT' then moves := exists (select from new_rows);
    when 'DELETE' then moves := exists (select from old_rows);
    else moves := exists (
      select from new_rows n full join old_rows o using (id)
      where (n.title, n.content, n.archived, n.embedding_status) is distinct from (o.title, o.content, o.archived, o.embedding_status));
  end case;
  if moves then
    perform private.change_data_version(array[-1]);
  end if;
  return null;
end
$$;
comment on function private.version_documents is 'Trigger: changes the version of documents when one is inserted, deleted or changed.';

create function private.version_document_vectors() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  moves boolean;
begin
  -- Storing a document with unchanged chunks writes no vector.
  if tg_op = 'DELETE' then
    moves := exists (select from old_rows);
  else
    moves := exists (select from new_rows);
  end if;
  if moves then
    perform private.change_data_version(array[-1]);
  end if;
  return null;
end
$$;
comment on function private.version_document_vectors is 'Trigger: changes the version of documents when one of their vectors is written or deleted.';

do $$
declare
  t record;
begin
  for t in select * from (values
    ('version_new_projects',             'insert',            'public.projects',            'version_new_rows'),
    ('version_updated_projects',         'update',            'public.projects',            'version_updated_projects'),
    ('version_deleted_projects',         'delete',            'public.projects',            'version_old_rows'),
    ('version_new_tickets',              'insert',            'public.tickets',             'version_new_rows'),
    ('version_updated_tickets',          'update',            'public.tickets',             'version_updated_tickets'),
    ('version_deleted_tickets',          'delete',            'public.tickets',             'version_old_rows'),
    ('version_new_chunks',               'insert',            'public.chunks',              'version_new_rows'),
    ('version_updated_chunks',           'update',            'public.chunks',              'version_updated_chunks'),
    ('version_deleted_chunks',           'delete',            'public.chunks',              'version_old_rows'),
    ('version_new_notes',                'insert',            'public.status_changes',      'version_status_notes'),
    ('version_updated_notes',            'update',            'public.status_changes',      'version_status_notes'),
    ('version_deleted_notes',            'delete',            'public.status_changes',      'version_status_notes'),
    ('version_new_comments',             'insert',            'public.comments',            'version_comments'),
    ('version_updated_comments',         'update',            'public.comments',            'version_comments'),
    ('version_deleted_comments',         'delete',            'public.comments',            'version_comments'),
    ('version_new_links',                'insert',            'public.ticket_links',        'version_links'),
    ('version_updated_links',            'update',            'public.ticket_links',        'version_links'),
    ('version_deleted_links',            'delete',            'public.ticket_links',        'version_links'),
    ('version_renamed_statuses',         'update',            'public.status',              'version_renamed_statuses'),
    ('version_new_members',              'insert',            'public.project_members',     'version_memberships'),
    ('version_updated_members',          'update',            'public.project_members',     'version_memberships'),
    ('version_deleted_members',          'delete',            'public.project_members',     'version_memberships'),
    ('version_emptied_members',          'truncate',          'public.project_members',     'version_truncated'),
    ('version_emptied_projects',         'truncate',          'public.projects',            'version_truncated'),
    ('version_emptied_tickets',          'truncate',          'public.tickets',             'version_truncated'),
    ('version_emptied_chunks',           'truncate',          'public.chunks',              'version_truncated'),
    ('version_emptied_notes',            'truncate',          'public.status_changes',      'version_truncated'),
    ('version_emptied_comments',         'truncate',          'public.comments',            'version_truncated'),
    ('version_emptied_links',            'truncate',          'public.ticket_links',        'version_truncated'),
    ('version_switched_sets',            'update of serving', 'private.embedding_sets',     'version_truncated'),
    ('version_emptied_comment_entries',  'truncate',          'public.comment_entries',     'version_truncated'),
    ('version_emptied_entries',          'truncate',          'public.keyword_entries',     'version_truncated'),
    ('version_new_documents',            'insert',            'public.documents',           'version_documents'),
    ('version_updated_documents',        'update',            'public.documents',           'version_documents'),
    ('version_deleted_documents',        'delete',            'public.documents',           'version_documents'),
    ('version_new_document_vectors',     'insert',            'public.embeddings',          'version_document_vectors'),
    ('version_updated_document_vectors', 'update',            'public.embeddings',          'version_document_vectors'),
    ('version_deleted_document_vectors', 'delete',            'public.embeddings',          'version_document_vectors'),
    ('version_emptied_documents',        'truncate',          'public.documents',           'version_truncated'),
    ('version_emptied_document_vectors', 'truncate',          'public.embeddings',          'version_truncated')
  ) as v (name, event, on_table, function)
  loop
    execute format('create trigger %I after %s on %s %s for each statement execute function private.%I()', t.name, t.event, t.on_table,
      case t.event
        when 'insert' then 'referencing new table as new_rows'
        when 'update' then 'referencing old table as old_rows new table as new_rows'
        when 'delete' then 'referencing old table as old_rows'
        else '' end,
      t.function);
  end loop;
end
$$;

insert into private.migrations (version) values ('20260101002110');
