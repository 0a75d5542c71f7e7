-- What follows a change, by one trigger for each table and event, all in the same order: keyword
-- entries, jobs for the texts to embed again, data versions. Rows rewritten with the same values
-- are ignored. Security definer: writers of tickets need no rights on what follows.

create function tasklens.follow_projects() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  written bigint[]; -- projects with another text
  renamed bigint[]; -- those of them with another name
  changed bigint[];
begin
  -- One branch per event, because only its own transition tables exist.
  if tg_op = 'INSERT' then
    written := array(select n.project_id from new_rows n);
    changed := written;
  elsif tg_op = 'UPDATE' then
    -- Full joins, here and below: plpgsql keeps a plan made for one row, which would be a nested
    -- loop. They return null for a row whose id changed.
    select array_agg(n.project_id) filter (where (n.name, n.description) is distinct from (o.name, o.description)),
      array_agg(n.project_id) filter (where n.name is distinct from o.name),
      array_agg(n.project_id) || array_agg(o.project_id)
    into written, renamed, changed
    from new_rows n full join old_rows o using (project_id)
    where n is distinct from o;
    insert into tasklens.former_languages (project_id, language)
    select n.project_id, coalesce(o.language, tasklens.language_of(null)) from new_rows n join old_rows o using (project_id)
    where n.language is distinct from o.language
    on conflict do nothing;
  elsif tg_op = 'DELETE' then
    changed := array(select o.project_id from old_rows o);
  else
    changed := '{0}';
  end if;
  if written <> '{}' then
    perform tasklens.refresh_entries('{}', written);
    if renamed <> '{}' then
      written := array(select w from unnest(written) w except select unnest(renamed));
      -- The tickets are looked up when the job is claimed: this transaction may not see all those
      -- created under the old name.
      perform tasklens.enqueue_sources(tasklens.ensure_sources(project_ids => renamed), true);
    end if;
    perform tasklens.enqueue_sources(tasklens.ensure_sources(project_ids => written));
  end if;
  perform tasklens.change_data_version(changed);
  return null;
end
$$;
comment on function tasklens.follow_projects is 'Trigger: follows changes of projects. After a new name, all their tickets are embedded again.';

create function tasklens.follow_language() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into tasklens.former_languages (project_id, language)
  select p.project_id, old.language from public.projects p where p.language is null
  on conflict do nothing;
  perform tasklens.change_data_version('{0}');
  return null;
end
$$;
comment on function tasklens.follow_language is 'Trigger: after another language of the database, the texts of projects without one are indexed again.';
create trigger follow_language after update of language on public.search_config
  for each row when (new.language <> old.language) execute function tasklens.follow_language();

create function tasklens.follow_tickets() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  written bigint[]; -- tickets with another text
  renamed bigint[]; -- tickets with another name or project, which the headers of comments contain
  changed bigint[]; -- projects
begin
  if tg_op = 'INSERT' then
    select array_agg(n.ticket_id), array_agg(distinct n.project_id) into written, changed from new_rows n;
  elsif tg_op = 'UPDATE' then
    select array_agg(n.ticket_id) filter (where (n.name, n.description) is distinct from (o.name, o.description)),
      array_agg(n.ticket_id) filter (where (n.project_id, n.name) is distinct from (o.project_id, o.name)),
      array_agg(distinct n.project_id) || array_agg(distinct o.project_id)
    into written, renamed, changed
    from new_rows n full join old_rows o using (ticket_id)
    where n is distinct from o;
  elsif tg_op = 'DELETE' then
    changed := array(select distinct o.project_id from old_rows o);
  else
    changed := '{0}';
  end if;
  if written <> '{}' then
    perform tasklens.refresh_entries(written);
  end if;
  if renamed <> '{}' then
    insert into tasklens.former_languages (project_id, language)
    select distinct n.project_id, tasklens.language_of(o.project_id) from new_rows n join old_rows o using (ticket_id)
    where n.project_id <> o.project_id and tasklens.language_of(n.project_id) <> tasklens.language_of(o.project_id)
    on conflict do nothing;
    written := array_remove(written || renamed, null);
    -- Older snapshots may not see all comments.
    renamed := array(
      select r from unnest(renamed) r
      where r is not null and (current_setting('transaction_isolation') <> 'read committed' or exists (select from public.comments c where c.ticket_id = r)));
    if renamed <> '{}' then
      written := array(select w from unnest(written) w except select unnest(renamed));
      perform tasklens.enqueue_sources(tasklens.ensure_sources(ticket_ids => renamed), true);
    end if;
  end if;
  if written <> '{}' then
    perform tasklens.enqueue_sources(tasklens.ensure_sources(ticket_ids => written));
  end if;
  perform tasklens.change_data_version(changed);
  return null;
end
$$;
comment on function tasklens.follow_tickets is 'Trigger: follows changes of tickets. After a new name or a move, their comments are embedded again.';

create function tasklens.follow_notes() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  written bigint[]; -- tickets
begin
  if tg_op = 'INSERT' then
    written := array(select distinct n.ticket_id from new_rows n where n.note ~ '\S');
  elsif tg_op = 'UPDATE' then
    written := array(
      select distinct unnest(array[n.ticket_id, o.ticket_id]) from new_rows n full join old_rows o using (status_change_id)
      where (n.note, n.ticket_id) is distinct from (o.note, o.ticket_id) and (n.note ~ '\S' or o.note ~ '\S'));
  elsif tg_op = 'DELETE' then
    -- Not of deleted tickets.
    written := array(select distinct t.ticket_id from old_rows o join public.tickets t using (ticket_id) where o.note ~ '\S');
  else
    written := array(select t.ticket_id from public.tickets t);
  end if;
  if written <> '{}' then
    perform tasklens.refresh_entries(written);
    -- Truncating notes truncates the chunks too, which queues everything.
    if tg_op <> 'TRUNCATE' then
      perform tasklens.enqueue_sources(tasklens.ensure_sources(ticket_ids => written));
    end if;
    perform tasklens.change_data_version(array(select distinct t.project_id from public.tickets t where t.ticket_id = any (written)));
  end if;
  return null;
end
$$;
comment on function tasklens.follow_notes is 'Trigger: follows changes of status notes, whose words and chunks are their tickets''.';

create function tasklens.follow_comments() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  written bigint[]; -- comments that are new or changed
  moved bigint[];   -- those of them with another ticket
  tickets bigint[];
begin
  if tg_op = 'INSERT' then
    select array_agg(n.comment_id), array_agg(distinct n.ticket_id) into written, tickets from new_rows n;
  elsif tg_op = 'UPDATE' then
    select array_agg(n.comment_id), array_agg(n.comment_id) filter (where n.ticket_id <> o.ticket_id),
      array_agg(distinct n.ticket_id) || array_agg(distinct o.ticket_id)
    into written, moved, tickets
    from new_rows n full join old_rows o using (comment_id)
    where (n.ticket_id, n.author, n.body, n.created_at) is distinct from (o.ticket_id, o.author, o.body, o.created_at);
  elsif tg_op = 'DELETE' then
    select array_agg(distinct o.ticket_id) into tickets from old_rows o;
  else
    perform tasklens.change_data_version('{0}');
  end if;
  if moved <> '{}' then
    -- Search returns the new ticket at once. The chunks of a moved ticket follow by a foreign key.
    update public.chunks c set ticket_id = t.ticket_id, project_id = t.project_id
    from public.comments m join public.tickets t using (ticket_id)
    where c.comment_id = m.comment_id and m.comment_id = any (moved);
  end if;
  if written <> '{}' then
    perform tasklens.refresh_comment_entries(written);
    perform tasklens.enqueue_sources(tasklens.ensure_sources(comment_ids => written));
  end if;
  if tickets <> '{}' then
    perform tasklens.change_data_version(array(select distinct t.project_id from public.tickets t where t.ticket_id = any (tickets)));
  end if;
  return null;
end
$$;
comment on function tasklens.follow_comments is 'Trigger: follows changes of comments. The chunks of a moved comment move with it.';

insert into tasklens.migrations (version) values ('20261127001310');
