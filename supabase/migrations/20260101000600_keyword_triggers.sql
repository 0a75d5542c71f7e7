-- Keeps keyword_entries up to date. A writer's statement costs one statement here, for any number
-- of rows, and nothing if no searched text changed. Security definer: writers of tickets need no
-- right on the entries.

create function private.index_projects() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into public.keyword_entries (project_id, ticket_id, title_words, words, title_length, body_length)
  select n.project_id, null, i.title_words, i.words, i.title_length, i.body_length
  from new_rows n cross join lateral private.index_words(n.name, n.description, null) i
  on conflict (ticket_id, project_id) do update
    set title_words = excluded.title_words, words = excluded.words, title_length = excluded.title_length, body_length = excluded.body_length
    where keyword_entries.words is distinct from excluded.words;
  return null;
end
$$;
comment on function private.index_projects is 'Trigger: writes the keyword entries of inserted or changed projects.';

create function private.index_inserted_tickets() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.refresh_ticket_entries(array(select n.ticket_id from new_rows n));
  return null;
end
$$;
comment on function private.index_inserted_tickets is 'Trigger: writes the keyword entries of new tickets.';

create function private.index_updated_tickets() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.refresh_ticket_entries(array(
    select n.ticket_id from new_rows n join old_rows o using (ticket_id)
    where (n.name, n.description) is distinct from (o.name, o.description)));
  return null;
end
$$;
comment on function private.index_updated_tickets is 'Trigger: writes the keyword entries of tickets whose texts changed.';

create function private.index_status_notes() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform private.refresh_ticket_entries(array(select distinct n.ticket_id from new_rows n where n.note is not null));
  elsif tg_op = 'DELETE' then
    perform private.refresh_ticket_entries(array(select distinct o.ticket_id from old_rows o where o.note is not null));
  else
    perform private.refresh_ticket_entries(array(
      select unnest(array[n.ticket_id, o.ticket_id]) from new_rows n join old_rows o using (status_change_id)
      where (n.note, n.ticket_id) is distinct from (o.note, o.ticket_id)));
  end if;
  return null;
end
$$;
comment on function private.index_status_notes is 'Trigger: writes the keyword entries of tickets whose notes changed.';

create trigger index_inserted_projects after insert on public.projects
  referencing new table as new_rows
  for each statement execute function private.index_projects();
create trigger index_updated_projects after update on public.projects
  referencing new table as new_rows
  for each statement execute function private.index_projects();
create trigger index_inserted_tickets after insert on public.tickets
  referencing new table as new_rows
  for each statement execute function private.index_inserted_tickets();
create trigger index_updated_tickets after update on public.tickets
  referencing old table as old_rows new table as new_rows
  for each statement execute function private.index_updated_tickets();
create trigger index_inserted_notes after insert on public.status_changes
  referencing new table as new_rows
  for each statement execute function private.index_status_notes();
create trigger index_updated_notes after update on public.status_changes
  referencing old table as old_rows new table as new_rows
  for each statement execute function private.index_status_notes();
create trigger index_deleted_notes after delete on public.status_changes
  referencing old table as old_rows
  for each statement execute function private.index_status_notes();

insert into private.migrations (version) values ('20260101000600');
