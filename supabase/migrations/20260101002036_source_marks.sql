-- Triggers that mark sources for recounting: every statement that may change what they add to the
-- totals.

create function private.merge_gathered_marks() returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  gathered bigint;
begin
  select max(m.source_mark_id) - min(m.source_mark_id) into gathered from private.source_marks m;
  if gathered > 1000 then
    perform private.merge_source_marks();
  end if;
end
$$;
comment on function private.merge_gathered_marks is 'Recounts the marked sources if there are too many for readers.';

-- The arguments are expressions over a row r of the table: its source (null for none), and the
-- values that affect the count.
create function private.mark_sources() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  marked bigint;
begin
  -- One branch per event, because only its own transition tables exist.
  if tg_op = 'INSERT' then
    execute format('insert into private.source_marks (source) select distinct %1$s from new_rows r where %1$s is not null', tg_argv[0]);
  elsif tg_op = 'DELETE' then
    execute format('insert into private.source_marks (source) select distinct %1$s from old_rows r where %1$s is not null', tg_argv[0]);
  else
    execute format('
      insert into private.source_marks (source)
      select distinct x.source from (
        (select %1$s as source, %2$s from new_rows r except all select %1$s, %2$s from old_rows r)
        union all
        (select %1$s, %2$s from old_rows r except all select %1$s, %2$s from new_rows r)
      ) x where x.source is not null', tg_argv[0], tg_argv[1]);
  end if;
  get diagnostics marked = row_count;
  if marked > 0 then
    perform private.merge_gathered_marks();
  end if;
  return null;
end
$$;
comment on function private.mark_sources is 'Trigger: marks the sources of rows whose counted values changed.';

create function private.mark_all_sources() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into private.source_marks (source) select distinct s.source from private.source_states s;
  perform private.merge_gathered_marks();
  return null;
end
$$;
comment on function private.mark_all_sources is 'Trigger: marks all counted sources when a table is truncated.';

-- The same four triggers for each table.
do $$
declare
  watched record;
begin
  for watched in
    select * from (values
      ('private.embedding_jobs', 'coalesce(''c'' || r.comment_id, ''t'' || r.ticket_id, ''p'' || r.project_id, ''d'' || r.document_id)',
        'row(r.lease_id is null, r.dead_at is null, r.attempts > 0)'),
      ('public.projects', '''p'' || r.project_id', 'coalesce(r.name ~ ''\S'' or r.description ~ ''\S'', false)'),
      ('public.tickets', '''t'' || r.ticket_id', 'coalesce(r.name ~ ''\S'' or r.description ~ ''\S'', false)'),
      ('public.status_changes', 'case when r.note ~ ''\S'' then ''t'' || r.ticket_id end', 'true'),
      ('public.comments', '''c'' || r.comment_id', 'coalesce(r.body ~ ''\S'', false)'),
      ('public.chunks', 'coalesce(''c'' || r.comment_id, ''t'' || r.ticket_id, ''p'' || r.project_id)', 'row(r.embedding_set, r.model)'),
      ('public.documents', '''d'' || r.id', 'true'),
      ('public.document_chunks', '''d'' || r.document_id', 'true'),
      ('public.embeddings', 'case when r.chunk_id is null then ''d'' || r.document_id end', 'r.model')
    ) as w(name, source, counted)
  loop
    execute format('
      create trigger count_inserted_sources after insert on %1$s referencing new table as new_rows
        for each statement execute function private.mark_sources(%2$L, %3$L);
      create trigger count_updated_sources after update on %1$s referencing old table as old_rows new table as new_rows
        for each statement execute function private.mark_sources(%2$L, %3$L);
      create trigger count_deleted_sources after delete on %1$s referencing old table as old_rows
        for each statement execute function private.mark_sources(%2$L, %3$L);
      create trigger count_emptied_sources after truncate on %1$s
        for each statement execute function private.mark_all_sources();',
      watched.name, watched.source, watched.counted);
  end loop;
end
$$;

insert into private.migrations (version) values ('20260101002036');
