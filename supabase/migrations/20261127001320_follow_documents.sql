-- What follows a change of documents, and of tables whose changes matter to versions alone; and the
-- triggers of all tables.

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

do $$
declare
  t record;
begin
  for t in
    select w.on_table, w.call, e as event
    from (values
      ('public.projects',             'follow_projects()',       '{insert,update,delete,truncate}'),
      ('public.tickets',              'follow_tickets()',        '{insert,update,delete,truncate}'),
      ('public.status_changes',       'follow_notes()',          '{insert,update,delete,truncate}'),
      ('public.comments',             'follow_comments()',       '{insert,update,delete,truncate}'),
      ('public.ticket_links',         'follow_rows(''select t.project_id from public.tickets t where t.ticket_id in (r.ticket_id, r.other_ticket_id)'')', '{insert,update,delete,truncate}'),
      ('public.project_members',      'follow_rows(''select tasklens.membership_version(r.user_id)'')', '{insert,update,delete,truncate}'),
      ('public.documents',            'follow_documents()',      '{insert,update,delete,truncate}'),
      ('public.document_votes',       'count_votes()',           '{insert,update,delete,truncate}'),
      ('public.chunks',               'follow_rows(''select r.project_id'')', '{insert,update,delete,truncate}'),
      ('public.embeddings',           'follow_rows(''select -1'', ''-1'')', '{insert,update,delete,truncate}'),
      ('tasklens.sources',             'follow_sources()',        '{delete,truncate}'),
      -- A status without tickets matters to nobody.
      ('public.status',               'follow_rows(''select 0'')', '{update}'),
      ('tasklens.embedding_sets',      'follow_rows(''select 0'')', '{update}'),
      ('public.keyword_entries',      'count_entry_words()',     '{insert,update,delete,truncate}'),
      ('public.comment_entries',      'count_entry_words()',     '{insert,update,delete,truncate}')
    ) as w (on_table, call, events)
    cross join unnest(w.events::text[]) e
  loop
    execute format('create trigger follow_%s after %1$s on %s %s for each statement execute function tasklens.%s', t.event, t.on_table,
      case t.event
        when 'insert' then 'referencing new table as new_rows'
        when 'update' then 'referencing old table as old_rows new table as new_rows'
        when 'delete' then 'referencing old table as old_rows'
        else '' end,
      t.call);
  end loop;
end
$$;

insert into tasklens.migrations (version) values ('20261127001320');
