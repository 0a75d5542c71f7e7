-- What follows a change of documents, of sources, and of tables whose changes matter to versions
-- alone; and the triggers of all tables.

create function tasklens.follow_sources() returns trigger
-- A plan made for an empty queue would not use the indexes.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  jobs bigint[];
begin
  -- Otherwise the dead jobs of deleted sources would stay forever. Locked jobs end when they are
  -- claimed.
  if tg_op = 'DELETE' then
    jobs := array(
      select j.embedding_job_id from tasklens.embedding_jobs j
      where j.source_id = any (array(select o.source_id from old_rows o)) for update skip locked);
  else
    jobs := array(select j.embedding_job_id from tasklens.embedding_jobs j for update skip locked);
  end if;
  delete from tasklens.embedding_jobs d where d.embedding_job_id = any (jobs);
  if tg_op = 'TRUNCATE' then
    -- Of one table's sources, with those of all others.
    perform tasklens.recount_sources();
    perform tasklens.enqueue_sources(array(select s.source_id from tasklens.sources s), false, true);
  end if;
  return null;
end
$$;
comment on function tasklens.follow_sources is
  'Trigger: deletes the jobs of deleted sources, except locked ones. After truncation it queues the sources that are left.';

-- The version of documents is that of project -1. Retrievals, votes and enrichments do not affect
-- cached responses.
create function tasklens.follow_documents() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  written uuid[];        -- documents with another text
  sources bigint[];      -- theirs
  shown boolean := true; -- whether a search can see the change
begin
  if tg_op = 'INSERT' then
    select array_agg(n.id), count(*) > 0 into written, shown from new_rows n;
  elsif tg_op = 'UPDATE' then
    select array_agg(n.id) filter (where (n.title, n.content) is distinct from (o.title, o.content)),
      bool_or((n.title, n.content, n.archived, n.embedding_status) is distinct from (o.title, o.content, o.archived, o.embedding_status))
    into written, shown
    from new_rows n full join old_rows o using (id);
  elsif tg_op = 'DELETE' then
    shown := exists (select from old_rows);
  end if;
  if written <> '{}' then
    sources := tasklens.ensure_sources(document_ids => written);
    -- Attempts at another text do not count.
    delete from tasklens.embedding_jobs j
    where j.embedding_job_id = any (array(select e.embedding_job_id from tasklens.embedding_jobs e where e.source_id = any (sources) and e.kind = 'enrich' for update skip locked));
    perform tasklens.enqueue_sources(sources);
  end if;
  if shown then
    perform tasklens.change_data_version('{-1}');
  end if;
  return null;
end
$$;
comment on function tasklens.follow_documents is 'Trigger: follows changes of documents.';

-- The arguments: a query for the versions that a row r changes, such as its project, and the
-- version that truncation changes (0, all).
create function tasklens.follow_rows() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  versions bigint[] := array[coalesce(tg_argv[1], '0')::bigint];
begin
  if tg_op <> 'TRUNCATE' then
    execute format('select array_agg(distinct v.version::bigint) from (%s) r cross join lateral (%s) as v(version)', case tg_op
        when 'INSERT' then 'table new_rows'
        when 'DELETE' then 'table old_rows'
        else '(table new_rows except table old_rows) union all (table old_rows except table new_rows)' end, tg_argv[0])
      into versions;
  elsif tg_relid = 'public.chunks'::regclass then
    update tasklens.sources s set models = default, chunks = default where s.document_id is null;
    perform tasklens.enqueue_sources(array(select s.source_id from tasklens.sources s where s.document_id is null), false, true);
  end if;
  perform tasklens.change_data_version(versions);
  return null;
end
$$;
comment on function tasklens.follow_rows is 'Trigger: changes the versions that the query in its argument returns. Truncated chunks are queued, after fresh edits.';

-- The triggers of all tables, by table and event: one that serves several events has no transition
-- tables.
create trigger follow_insert after insert on public.projects referencing new table as new_rows for each statement execute function tasklens.follow_projects();
create trigger follow_update after update on public.projects referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_projects();
create trigger follow_delete after delete on public.projects referencing old table as old_rows for each statement execute function tasklens.follow_projects();
create trigger follow_truncate after truncate on public.projects for each statement execute function tasklens.follow_projects();
create trigger follow_insert after insert on public.tickets referencing new table as new_rows for each statement execute function tasklens.follow_tickets();
create trigger follow_update after update on public.tickets referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_tickets();
create trigger follow_delete after delete on public.tickets referencing old table as old_rows for each statement execute function tasklens.follow_tickets();
create trigger follow_truncate after truncate on public.tickets for each statement execute function tasklens.follow_tickets();
create trigger follow_insert after insert on public.status_changes referencing new table as new_rows for each statement execute function tasklens.follow_notes();
create trigger follow_update after update on public.status_changes referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_notes();
create trigger follow_delete after delete on public.status_changes referencing old table as old_rows for each statement execute function tasklens.follow_notes();
create trigger follow_truncate after truncate on public.status_changes for each statement execute function tasklens.follow_notes();
create trigger follow_insert after insert on public.comments referencing new table as new_rows for each statement execute function tasklens.follow_comments();
create trigger follow_update after update on public.comments referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_comments();
create trigger follow_delete after delete on public.comments referencing old table as old_rows for each statement execute function tasklens.follow_comments();
create trigger follow_truncate after truncate on public.comments for each statement execute function tasklens.follow_comments();
create trigger follow_insert after insert on public.ticket_links referencing new table as new_rows for each statement execute function tasklens.follow_rows('select t.project_id from public.tickets t where t.ticket_id in (r.ticket_id, r.other_ticket_id)');
create trigger follow_update after update on public.ticket_links referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_rows('select t.project_id from public.tickets t where t.ticket_id in (r.ticket_id, r.other_ticket_id)');
create trigger follow_delete after delete on public.ticket_links referencing old table as old_rows for each statement execute function tasklens.follow_rows('select t.project_id from public.tickets t where t.ticket_id in (r.ticket_id, r.other_ticket_id)');
create trigger follow_truncate after truncate on public.ticket_links for each statement execute function tasklens.follow_rows('select t.project_id from public.tickets t where t.ticket_id in (r.ticket_id, r.other_ticket_id)');
create trigger follow_insert after insert on public.project_members referencing new table as new_rows for each statement execute function tasklens.follow_rows('select tasklens.membership_version(r.user_id)');
create trigger follow_update after update on public.project_members referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_rows('select tasklens.membership_version(r.user_id)');
create trigger follow_delete after delete on public.project_members referencing old table as old_rows for each statement execute function tasklens.follow_rows('select tasklens.membership_version(r.user_id)');
create trigger follow_truncate after truncate on public.project_members for each statement execute function tasklens.follow_rows('select tasklens.membership_version(r.user_id)');
create trigger follow_insert after insert on public.documents referencing new table as new_rows for each statement execute function tasklens.follow_documents();
create trigger follow_update after update on public.documents referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_documents();
create trigger follow_delete after delete on public.documents referencing old table as old_rows for each statement execute function tasklens.follow_documents();
create trigger follow_truncate after truncate on public.documents for each statement execute function tasklens.follow_documents();
create trigger follow_insert after insert on public.document_votes referencing new table as new_rows for each statement execute function tasklens.count_votes();
create trigger follow_update after update on public.document_votes referencing old table as old_rows new table as new_rows for each statement execute function tasklens.count_votes();
create trigger follow_delete after delete on public.document_votes referencing old table as old_rows for each statement execute function tasklens.count_votes();
create trigger follow_truncate after truncate on public.document_votes for each statement execute function tasklens.count_votes();
create trigger follow_insert after insert on public.chunks referencing new table as new_rows for each statement execute function tasklens.follow_rows('select r.project_id');
create trigger follow_update after update on public.chunks referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_rows('select r.project_id');
create trigger follow_delete after delete on public.chunks referencing old table as old_rows for each statement execute function tasklens.follow_rows('select r.project_id');
create trigger follow_truncate after truncate on public.chunks for each statement execute function tasklens.follow_rows('select r.project_id');
create trigger follow_insert after insert on public.embeddings referencing new table as new_rows for each statement execute function tasklens.follow_rows('select -1', '-1');
create trigger follow_update after update on public.embeddings referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_rows('select -1', '-1');
create trigger follow_delete after delete on public.embeddings referencing old table as old_rows for each statement execute function tasklens.follow_rows('select -1', '-1');
create trigger follow_truncate after truncate on public.embeddings for each statement execute function tasklens.follow_rows('select -1', '-1');
create trigger follow_delete after delete on tasklens.sources referencing old table as old_rows for each statement execute function tasklens.follow_sources();
create trigger follow_truncate after truncate on tasklens.sources for each statement execute function tasklens.follow_sources();
-- A status without tickets matters to nobody.
create trigger follow_update after update on public.status referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_rows('select 0');
create trigger follow_update after update on tasklens.embedding_sets referencing old table as old_rows new table as new_rows for each statement execute function tasklens.follow_rows('select 0');
create trigger follow_insert after insert on public.keyword_entries referencing new table as new_rows for each statement execute function tasklens.count_entry_words();
create trigger follow_update after update on public.keyword_entries referencing old table as old_rows new table as new_rows for each statement execute function tasklens.count_entry_words();
create trigger follow_delete after delete on public.keyword_entries referencing old table as old_rows for each statement execute function tasklens.count_entry_words();
create trigger follow_truncate after truncate on public.keyword_entries for each statement execute function tasklens.count_entry_words();
create trigger follow_insert after insert on public.comment_entries referencing new table as new_rows for each statement execute function tasklens.count_entry_words();
create trigger follow_update after update on public.comment_entries referencing old table as old_rows new table as new_rows for each statement execute function tasklens.count_entry_words();
create trigger follow_delete after delete on public.comment_entries referencing old table as old_rows for each statement execute function tasklens.count_entry_words();
create trigger follow_truncate after truncate on public.comment_entries for each statement execute function tasklens.count_entry_words();

insert into tasklens.migrations (version) values ('20261127001320');
