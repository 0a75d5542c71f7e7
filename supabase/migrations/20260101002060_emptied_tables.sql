-- Handles "truncate", which fires no row triggers. Truncating notes also truncates chunks, which
-- reference them; truncating comments also truncates their words; truncating projects or tickets
-- truncates everything, so nothing needs queueing.

create function private.follow_truncate() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_table_name = 'status_changes' then
    -- The words of notes are in their tickets' entries.
    perform private.refresh_ticket_entries(array(select t.ticket_id from public.tickets t));
  elsif tg_table_name = 'keyword_entries' then
    -- No other changes are in progress: truncate waited for all writers of entries.
    delete from private.word_count_changes c where c.comments = 0 and c.comment_words = 0;
    delete from private.word_counts c where c.comments = 0 and c.comment_words = 0;
    update private.word_counts c set entries = 0, titles = 0, title_words = 0, body_words = 0;
  elsif tg_table_name = 'comment_entries' then
    delete from private.word_count_changes c where c.comments <> 0 or c.comment_words <> 0;
    delete from private.word_counts c where c.entries = 0 and c.comments <> 0;
    update private.word_counts c set comments = 0, comment_words = 0 where c.comments <> 0 or c.comment_words <> 0;
  else
    perform private.enqueue_sources(
      array(select p.project_id from public.projects p), array(select t.ticket_id from public.tickets t), false, true,
      comment_ids => array(select c.comment_id from public.comments c));
  end if;
  return null;
end
$$;
comment on function private.follow_truncate is
  'Trigger on truncate: for chunks, queues everything, after fresh edits; for notes, rewrites the words of all tickets; for keyword entries or those of comments, resets the counts of their words.';

create trigger enqueue_emptied_chunks after truncate on public.chunks
  for each statement execute function private.follow_truncate();
create trigger index_emptied_notes after truncate on public.status_changes
  for each statement execute function private.follow_truncate();
create trigger count_emptied_words after truncate on public.keyword_entries
  for each statement execute function private.follow_truncate();
create trigger count_emptied_words after truncate on public.comment_entries
  for each statement execute function private.follow_truncate();

insert into private.migrations (version) values ('20260101002060');
