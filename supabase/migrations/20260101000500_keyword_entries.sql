-- What is searched by words: one entry a ticket or project, kept in step by triggers in the writer's transaction.

create table public.keyword_entries (
  keyword_entry_id bigint generated always as identity primary key,
  project_id bigint not null references public.projects on delete cascade,
  ticket_id bigint,
  words tsvector not null,
  foreign key (ticket_id, project_id) references public.tickets (ticket_id, project_id)
    on update cascade on delete cascade,
  unique nulls not distinct (ticket_id, project_id)
);
comment on table public.keyword_entries is 'The words of a ticket (name A, description B, status notes C) or of a project (ticket_id null).';
create index keyword_entries_project_id_idx on public.keyword_entries (project_id);
create index keyword_entries_words_idx on public.keyword_entries using gin (words);

alter table public.keyword_entries enable row level security;
revoke all on public.keyword_entries from anon, authenticated;
grant select on public.keyword_entries to service_role;

-- The words of three texts of falling weight. Never raises: a tsvector holds at most 1 MB, so a text that would
-- exceed it is indexed as far as it goes (first 200,000 characters, halved until they fit).
create function private.to_words(title text, body text, notes text) returns tsvector
language plpgsql immutable security invoker set search_path = '' set client_min_messages = 'warning'
as $$
declare
  characters integer := 200000;
  words tsvector;
begin
  while words is null loop
    begin
      words := setweight(to_tsvector('pg_catalog.english', left(coalesce(title, ''), characters)), 'A')
        || setweight(to_tsvector('pg_catalog.english', left(coalesce(body, ''), characters)), 'B')
        || setweight(to_tsvector('pg_catalog.english', left(coalesce(notes, ''), characters)), 'C');
    exception when program_limit_exceeded then
      characters := characters / 2;
    end;
  end loop;
  return words;
end
$$;
comment on function private.to_words(text, text, text) is 'The words of title (weight A), body (B) and notes (C); long texts as far as a tsvector can hold them.';
revoke execute on function private.to_words(text, text, text) from public;

-- Writes the entries of some tickets anew from the tables. Ids without a ticket are passed over.
create function private.refresh_ticket_entries(ticket_ids bigint[]) returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.keyword_entries (project_id, ticket_id, words)
  select t.project_id, t.ticket_id, private.to_words(t.name, t.description, n.notes)
  from public.tickets t
  left join lateral (
    select string_agg(s.note, e'\n\n' order by s.status_change_id) as notes
    from public.status_changes s
    where s.ticket_id = t.ticket_id
  ) n on true
  where t.ticket_id = any (refresh_ticket_entries.ticket_ids)
  order by t.ticket_id
  on conflict (ticket_id, project_id) do update set words = excluded.words
    where keyword_entries.words is distinct from excluded.words
$$;
comment on function private.refresh_ticket_entries(bigint[]) is 'Writes the keyword entries of these tickets anew.';
revoke execute on function private.refresh_ticket_entries(bigint[]) from public;
