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
-- tables. Of statuses only a change matters: a new one has no tickets.
do $$
declare
  statement text;
begin
  for statement in
    select format('create trigger follow_%1$s after %1$s on %2$s %3$s for each statement execute function tasklens.%4$s(%5$s)',
      e.event, w.on_table, e.transition, w.function, concat_ws(', ', quote_literal(w.query), quote_literal(w.truncation)))
    from (values
      ('public.projects', '{insert,update,delete,truncate}', 'follow_projects', null, null),
      ('public.tickets', '{insert,update,delete,truncate}', 'follow_tickets', null, null),
      ('public.status_changes', '{insert,update,delete,truncate}', 'follow_notes', null, null),
      ('public.comments', '{insert,update,delete,truncate}', 'follow_comments', null, null),
      ('public.ticket_links', '{insert,update,delete,truncate}', 'follow_rows',
        'select t.project_id from public.tickets t where t.ticket_id in (r.ticket_id, r.other_ticket_id)', null),
      ('public.project_members', '{insert,update,delete,truncate}', 'follow_rows', 'select tasklens.membership_version(r.user_id)', null),
      ('public.documents', '{insert,update,delete,truncate}', 'follow_documents', null, null),
      ('public.document_votes', '{insert,update,delete,truncate}', 'count_votes', null, null),
      ('public.chunks', '{insert,update,delete,truncate}', 'follow_rows', 'select r.project_id', null),
      ('public.embeddings', '{insert,update,delete,truncate}', 'follow_rows', 'select -1', '-1'),
      ('public.keyword_entries', '{insert,update,delete,truncate}', 'count_entry_words', null, null),
      ('public.comment_entries', '{insert,update,delete,truncate}', 'count_entry_words', null, null),
      ('public.status', '{update}', 'follow_rows', 'select 0', null),
      ('tasklens.sources', '{delete,truncate}', 'follow_sources', null, null),
      ('tasklens.embedding_sets', '{update}', 'follow_rows', 'select 0', null)) w(on_table, events, function, query, truncation)
    join (values
      ('insert', 'referencing new table as new_rows'),
      ('update', 'referencing old table as old_rows new table as new_rows'),
      ('delete', 'referencing old table as old_rows'),
      ('truncate', '')) e(event, transition) on e.event = any (w.events::text[])
  loop
    execute statement;
  end loop;
end
$$;

insert into tasklens.migrations (version) values ('20261127001320');
