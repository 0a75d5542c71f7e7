-- The data of keyword search: one entry per ticket or project, updated by triggers in the writer's
-- transaction.

create table public.keyword_entries (
  keyword_entry_id bigint generated always as (coalesce(ticket_id, ~project_id)) stored primary key,
  project_id bigint not null references public.projects on delete cascade,
  ticket_id bigint,
  title_length integer not null,
  body_length integer not null,
  language text not null,
  title_words tsvector not null,
  words tsvector not null,
  foreign key (ticket_id, project_id) references public.tickets (ticket_id, project_id)
    on update cascade on delete cascade,
  unique nulls not distinct (ticket_id, project_id)
);
-- More than 2 kB are out of line. They are read often: decompressing costs more than space.
alter table public.keyword_entries alter column words set storage external;
comment on table public.keyword_entries is 'The words of a ticket (name A, description B, status notes C, implied words D) or of a project (ticket_id null).';
comment on column public.keyword_entries.keyword_entry_id is 'That of its ticket, or ~project_id, so that neither is looked up for the other.';
comment on column public.keyword_entries.language is 'The language of the words: that of the project, or a former one until they are indexed again.';
create index keyword_entries_project_id_idx on public.keyword_entries (project_id, language);
create index keyword_entries_words_idx on public.keyword_entries using gin (words);
create index keyword_entries_title_words_idx on public.keyword_entries using gin (title_words);

alter table public.keyword_entries enable row level security;
create policy read_entries on public.keyword_entries for select to authenticated
  using (project_id = any ((select tasklens.projects_as('viewer'))::bigint[]));

create trigger check_language before insert or update of language on public.projects
  for each row execute function tasklens.check_language();
create index projects_language_idx on public.projects (language) where language is not null;

-- Until all texts are indexed again, a search reads both languages.
create table tasklens.former_languages (
  project_id bigint references public.projects on delete cascade,
  language text,
  seen_by xid8,
  primary key (project_id, language)
);
comment on table tasklens.former_languages is 'Languages in which some texts of a project are still indexed, although it has another.';
comment on column tasklens.former_languages.seen_by is 'The first transaction that indexed some of them. Writers that began before it may add others.';

create function tasklens.language_of(project_id bigint) returns text
language plpgsql stable security definer set search_path = ''
as $$
begin
  return coalesce((select p.language from public.projects p where p.project_id = language_of.project_id), (select c.language from public.search_config c));
end
$$;
comment on function tasklens.language_of is 'The language of a project''s texts; for null, that of projects without one.';

create function tasklens.languages_in(projects bigint[]) returns text[]
language plpgsql stable security definer set search_path = ''
as $$
declare
  usual constant text := (select c.language from public.search_config c);
begin
  if not exists (select from public.projects p where p.language is not null) and not exists (select from tasklens.former_languages) then
    return array[usual];
  end if;
  return coalesce(nullif(array(
    select x.language from (
      select coalesce(p.language, usual) as language, count(*) as tickets
      from public.projects p left join public.tickets t using (project_id)
      where languages_in.projects is null or p.project_id = any (languages_in.projects)
      group by 1
      union all
      select f.language, 0 from tasklens.former_languages f
      where languages_in.projects is null or f.project_id = any (languages_in.projects)) x
    group by x.language order by sum(x.tickets) desc, x.language limit 4), '{}'), array[usual]);
end
$$;
comment on function tasklens.languages_in is 'The languages of the texts of these projects (null: all), at most four, those with most tickets first.';

-- It never fails: a tsvector holds at most 1 MB, so longer texts are halved until they fit. Where
-- every character starts a word, 50,000 are indexed, within Supabase's statement timeout. Implied
-- words have a position far after the text, so that they match no phrase.
create function tasklens.index_words(
  title text, body text, notes text, language text,
  out title_words tsvector, out words tsvector, out title_length integer, out body_length integer
)
language plpgsql stable security invoker set search_path = '' set client_min_messages = 'warning'
as $$
declare
  -- The dictionary drops them, which would reduce "log in" to "log".
  particles constant text := 'in|out|on|off|up|down|over';
  characters integer := tasklens.text_limit() * least(1, 50000.0 / greatest(1, length(
    regexp_replace(concat(left(body, tasklens.text_limit()), left(notes, tasklens.text_limit())), '[^' || tasklens.unspaced_scripts() || ']+', '', 'g'))));
  parts tsvector[];
  body_words tsvector;
  composed text;
  implied text[];
begin
  loop
    begin
      -- As read_words reads them.
      parts := array(
        select to_tsvector(('tasklens.' || language)::regconfig,
          concat_ws(' ', tasklens.plain_text(c.composed, language), tasklens.other_words(c.composed, language)))
        from unnest(array[left(title, least(characters, 10000)), left(body, characters), left(notes, characters)]) with ordinality as p(text, place)
        cross join lateral (select tasklens.compose_text(coalesce(p.text, ''), true) as composed offset 0) c
        order by p.place);
      title_words := parts[1];
      body_words := setweight(parts[2], 'B') || setweight(parts[3], 'C');
      composed := tasklens.compose_text(concat_ws(e'\n', left(title, least(characters, 10000)), left(body, characters), left(notes, characters)));
      implied := array[]::text[];
      if language = 'english' and composed ~* ('[ -](' || particles || ')\M') then
        implied := array(
          select distinct (ts_lexize('tasklens.english', s.stems[1] || lower(m[2]))) [1]
          from regexp_matches(composed, '\m([a-z]{2,15})[ -](' || particles || ')\M', 'gi') as m
          cross join lateral (select ts_lexize('tasklens.english', lower(m[1]))) s(stems)
          where cardinality(s.stems) > 0);
      end if;
      if composed ~ ('[' || tasklens.unspaced_scripts() || ']') then
        implied := implied || array(
          select distinct c from regexp_split_to_table(regexp_replace(composed, '[^' || tasklens.unspaced_scripts() || ']+', '', 'g'), '') c where c <> '');
      end if;
      words := setweight(title_words, 'A') || body_words
        || coalesce((select string_agg(quote_literal(w) || ':100', ' ')::tsvector from unnest(implied) w), '');
      exit;
    exception when program_limit_exceeded then
      characters := characters / 2;
    end;
  end loop;
  title_length := (select coalesce(sum(cardinality(u.positions)), 0) from unnest(title_words) u where right(u.lexeme, 2) <> tasklens.word_mark('common'));
  body_length := (select coalesce(sum(cardinality(u.positions)), 0) from unnest(body_words) u where right(u.lexeme, 2) <> tasklens.word_mark('common'));
end
$$;
comment on function tasklens.index_words is 'The words of title (weight A), body (B) and notes (C), what they imply (D: login by "log in", in English; the single characters of scripts without spaces), and their lengths. Texts are cut to what fits into a tsvector.';

create function tasklens.refresh_entries(ticket_ids bigint[], project_ids bigint[] default '{}') returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.keyword_entries (project_id, ticket_id, language, title_words, words, title_length, body_length)
  select x.project_id, x.ticket_id, l.language, i.title_words, i.words, i.title_length, i.body_length
  from (
    select t.project_id, t.ticket_id, t.name, coalesce(t.visible_text, t.description) as body, (
      select string_agg(coalesce(s.visible_text, s.note), e'\n\n' order by s.status_change_id) from public.status_changes s where s.ticket_id = t.ticket_id) as notes
    from public.tickets t where t.ticket_id = any (refresh_entries.ticket_ids)
    union all
    select p.project_id, null, p.name, coalesce(p.visible_text, p.description), null from public.projects p where p.project_id = any (refresh_entries.project_ids)
  ) x
  cross join lateral (select tasklens.language_of(x.project_id) as language offset 0) l
  cross join lateral tasklens.index_words(x.name, x.body, x.notes, l.language) i
  order by x.ticket_id, x.project_id
  on conflict (keyword_entry_id) do update
    set language = excluded.language, title_words = excluded.title_words, words = excluded.words, title_length = excluded.title_length, body_length = excluded.body_length
    where (keyword_entries.language, keyword_entries.words) is distinct from (excluded.language, excluded.words)
$$;
comment on function tasklens.refresh_entries is 'Rewrites the keyword entries of these tickets and projects. Ids without a row are ignored.';

insert into tasklens.migrations (version) values ('20261127000310');
