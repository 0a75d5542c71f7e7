-- Triggers that queue sources: every statement that changes an embedded text, or a name in its
-- header. Each statement costs one statement here, for any number of rows. Security definer:
-- writers of tickets need no right on the queue.

create function private.enqueue_projects() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform private.enqueue_sources(array(select n.project_id from new_rows n), '{}');
  else
    perform private.enqueue_sources(array(
      select n.project_id from new_rows n join old_rows o using (project_id)
      where n.name = o.name and n.description is distinct from o.description), '{}');
    -- The tickets are looked up when the job is claimed: this transaction may not see all those
    -- created under the old name.
    perform private.enqueue_sources(array(
      select n.project_id from new_rows n left join old_rows o using (project_id)
      where n.name is distinct from o.name), '{}', true);
  end if;
  return null;
end
$$;
comment on function private.enqueue_projects is 'Trigger: queues projects whose text changed, and the tickets of those whose name changed.';

create function private.enqueue_tickets() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  renamed bigint[];
begin
  if tg_op = 'INSERT' then
    perform private.enqueue_sources('{}', array(select n.ticket_id from new_rows n));
  else
    -- As for projects. Older snapshots may not see all comments.
    renamed := array(
      select n.ticket_id from new_rows n left join old_rows o using (ticket_id)
      where (n.project_id, n.name) is distinct from (o.project_id, o.name)
        and (current_setting('transaction_isolation') <> 'read committed'
          or exists (select from public.comments c where c.ticket_id = n.ticket_id)));
    perform private.enqueue_sources('{}', renamed, true);
    perform private.enqueue_sources('{}', array(
      select n.ticket_id from new_rows n left join old_rows o using (ticket_id)
      where (n.project_id, n.name, n.description) is distinct from (o.project_id, o.name, o.description)
        and n.ticket_id <> all (renamed)));
  end if;
  return null;
end
$$;
comment on function private.enqueue_tickets is 'Trigger: queues tickets that are new, moved or whose text changed, and the comments on moved or renamed ones.';

create function private.enqueue_notes() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- One branch per event, because only its own transition tables exist.
  if tg_op = 'INSERT' then
    perform private.enqueue_sources('{}', array(select n.ticket_id from new_rows n where n.note ~ '\S'));
  elsif tg_op = 'DELETE' then
    -- Notes deleted with their ticket leave nothing to embed.
    perform private.enqueue_sources('{}', array(
      select o.ticket_id from old_rows o join public.tickets t using (ticket_id) where o.note ~ '\S'));
  else
    perform private.enqueue_sources('{}', array(
      select x.ticket_id
      from (
        (select n.status_change_id, n.ticket_id, n.note from new_rows n except select o.status_change_id, o.ticket_id, o.note from old_rows o)
        union all
        (select o.status_change_id, o.ticket_id, o.note from old_rows o except select n.status_change_id, n.ticket_id, n.note from new_rows n)
      ) x
      where x.note ~ '\S'));
  end if;
  return null;
end
$$;
comment on function private.enqueue_notes is 'Trigger: queues tickets whose notes changed.';

create function private.enqueue_comments() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform private.enqueue_sources('{}', '{}', comment_ids => array(select n.comment_id from new_rows n where n.body ~ '\S'));
  else
    perform private.enqueue_sources('{}', '{}', comment_ids => array(
      select n.comment_id from new_rows n left join old_rows o using (comment_id)
      where (n.ticket_id, n.body, private.comment_heading(n.author, n.created_at))
          is distinct from (o.ticket_id, o.body, private.comment_heading(o.author, o.created_at))
        and (n.body ~ '\S' or o.body ~ '\S')));
  end if;
  return null;
end
$$;
comment on function private.enqueue_comments is 'Trigger: queues comments that are new, moved or whose text or heading changed.';

create function private.enqueue_documents() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform private.enqueue_sources('{}', '{}', document_ids => array(select n.id from new_rows n));
  else
    perform private.enqueue_sources('{}', '{}', document_ids => array(
      select n.id from new_rows n left join old_rows o using (id)
      where (n.title, n.content) is distinct from (o.title, o.content)));
  end if;
  return null;
end
$$;
comment on function private.enqueue_documents is 'Trigger: queues documents that are new or whose text changed.';

-- Otherwise the dead jobs of deleted sources would stay forever.
create function private.forget_jobs() returns trigger
-- With arrays, any plan uses the indexes; a join planned for an empty queue would not.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  jobs bigint[];
begin
  if tg_table_name = 'projects' then
    jobs := array(
      select j.embedding_job_id from private.embedding_jobs j
      where j.project_id = any (array(select o.project_id from old_rows o)) for update of j skip locked);
  elsif tg_table_name = 'comments' then
    jobs := array(
      select j.embedding_job_id from private.embedding_jobs j
      where j.comment_id = any (array(select o.comment_id from old_rows o)) for update of j skip locked);
  elsif tg_table_name = 'documents' then
    jobs := array(
      select j.embedding_job_id from private.embedding_jobs j
      where j.document_id = any (array(select o.id from old_rows o)) for update of j skip locked);
  else
    jobs := array(
      select j.embedding_job_id from private.embedding_jobs j
      where j.ticket_id = any (array(select o.ticket_id from old_rows o)) for update of j skip locked);
  end if;
  delete from private.embedding_jobs d where d.embedding_job_id = any (jobs);
  return null;
end
$$;
comment on function private.forget_jobs is 'Trigger: deletes the jobs of deleted projects, tickets, comments or documents, except locked ones, which end when they are claimed.';

create trigger enqueue_inserted_projects after insert on public.projects
  referencing new table as new_rows
  for each statement execute function private.enqueue_projects();
create trigger enqueue_updated_projects after update on public.projects
  referencing old table as old_rows new table as new_rows
  for each statement execute function private.enqueue_projects();
create trigger forget_deleted_projects after delete on public.projects
  referencing old table as old_rows
  for each statement execute function private.forget_jobs();
create trigger enqueue_inserted_tickets after insert on public.tickets
  referencing new table as new_rows
  for each statement execute function private.enqueue_tickets();
create trigger enqueue_updated_tickets after update on public.tickets
  referencing old table as old_rows new table as new_rows
  for each statement execute function private.enqueue_tickets();
create trigger forget_deleted_tickets after delete on public.tickets
  referencing old table as old_rows
  for each statement execute function private.forget_jobs();
create trigger enqueue_inserted_notes after insert on public.status_changes
  referencing new table as new_rows
  for each statement execute function private.enqueue_notes();
create trigger enqueue_updated_notes after update on public.status_changes
  referencing old table as old_rows new table as new_rows
  for each statement execute function private.enqueue_notes();
create trigger enqueue_deleted_notes after delete on public.status_changes
  referencing old table as old_rows
  for each statement execute function private.enqueue_notes();
create trigger enqueue_inserted_comments after insert on public.comments
  referencing new table as new_rows
  for each statement execute function private.enqueue_comments();
create trigger enqueue_updated_comments after update on public.comments
  referencing old table as old_rows new table as new_rows
  for each statement execute function private.enqueue_comments();
create trigger forget_deleted_comments after delete on public.comments
  referencing old table as old_rows
  for each statement execute function private.forget_jobs();
create trigger enqueue_inserted_documents after insert on public.documents
  referencing new table as new_rows
  for each statement execute function private.enqueue_documents();
create trigger enqueue_updated_documents after update on public.documents
  referencing old table as old_rows new table as new_rows
  for each statement execute function private.enqueue_documents();
create trigger forget_deleted_documents after delete on public.documents
  referencing old table as old_rows
  for each statement execute function private.forget_jobs();

insert into private.migrations (version) values ('20260101002010');
