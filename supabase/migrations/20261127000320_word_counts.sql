-- How many entries and comments contain each word: rare words weigh more. The counts are exact, and
-- writers never wait for each other: every statement appends its differences as rows, and a writer
-- occasionally merges them.

create table tasklens.word_counts (
  word text primary key,
  entries bigint not null,
  titles bigint not null default 0,
  comments bigint not null default 0
);
comment on table tasklens.word_counts is
  'How many entries, titles and comments contain each word. Two rows have totals: the empty word how many there are, a space how many words their texts, names and comments have.';
-- For removing words that are no longer used.
create index word_counts_unused_idx on tasklens.word_counts (word) where entries = 0 and comments = 0;
-- For unknown words: the nearest known ones.
create index word_counts_similar_idx on tasklens.word_counts using gin (word extensions.gin_trgm_ops) where length(word) between 4 and 40;

create table tasklens.word_count_changes (
  word_count_change_id bigint generated always as identity primary key,
  word text not null,
  entries bigint not null,
  titles bigint not null default 0,
  comments bigint not null default 0
);
comment on table tasklens.word_count_changes is 'Differences not yet merged into word_counts. The true count is the sum of both.';
create index word_count_changes_word_idx on tasklens.word_count_changes (word);

-- Merges the changes, unless another transaction is doing so.
create function tasklens.merge_word_counts() returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- An older snapshot could still see changes that are already merged.
  if current_setting('transaction_isolation') <> 'read committed' or not pg_try_advisory_xact_lock(hashtext('tasklens.merge_word_counts')) then
    return;
  end if;
  with gone as (
    delete from tasklens.word_count_changes
    returning word_count_changes.word, word_count_changes.entries, word_count_changes.titles, word_count_changes.comments
  )
  insert into tasklens.word_counts as c (word, entries, titles, comments)
  select g.word, sum(g.entries), sum(g.titles), sum(g.comments) from gone g group by g.word
  on conflict (word) do update
    set entries = c.entries + excluded.entries, titles = c.titles + excluded.titles, comments = c.comments + excluded.comments;
  delete from tasklens.word_counts c where c.entries = 0 and c.comments = 0 and btrim(c.word) <> '';
end
$$;
comment on function tasklens.merge_word_counts is 'Merges the collected changes into word_counts. Does nothing while another transaction does it.';

create function tasklens.count_entry_words() returns trigger
language plpgsql volatile security definer set search_path = '' set jit = off
as $$
declare
  of_comments constant boolean := tg_relid = 'public.comment_entries'::regclass;
  gathered bigint;
begin
  -- No other changes are in progress: truncate waited for all writers.
  if tg_op = 'TRUNCATE' and of_comments then
    delete from tasklens.word_count_changes c where c.comments <> 0;
    update tasklens.word_counts c set comments = 0 where c.comments <> 0;
  elsif tg_op = 'TRUNCATE' then
    delete from tasklens.word_count_changes c where c.comments = 0;
    update tasklens.word_counts c set entries = 0, titles = 0;
  else
    execute format($statement$
      with changed as (%s), counted as (
        select u.lexeme as word, %s from changed r, unnest(r.words) u
        union all
        select t.* from changed r cross join lateral (values ('', %s), (' ', %s)) t
      )
      insert into tasklens.word_count_changes (word, entries, titles, comments)
      select c.word, sum(c.entries), sum(c.titles), sum(c.comments)
      from counted c
      group by c.word
      having (sum(c.entries), sum(c.titles), sum(c.comments)) <> (0, 0, 0)
      $statement$,
      concat_ws(' union all ', case when tg_op <> 'DELETE' then 'select n.*, 1 as sign from new_rows n' end,
        case when tg_op <> 'INSERT' then 'select o.*, -1 as sign from old_rows o' end),
      case when of_comments then '0 as entries, 0 as titles, r.sign as comments'
        else 'r.sign as entries, r.sign * (''A'' = any (u.weights))::integer as titles, 0 as comments' end,
      case when of_comments then '0, 0, r.sign' else 'r.sign, 0, 0' end,
      case when of_comments then '0, 0, r.sign * r.length' else 'r.sign * r.body_length, r.sign * r.title_length, 0' end);
  end if;
  if tg_op = 'TRUNCATE' then
    delete from tasklens.word_counts c where (c.entries, c.titles, c.comments) = (0, 0, 0);
    perform tasklens.change_data_version('{0}');
  end if;
  -- Readers add up the changes: merge them before they are too many.
  select max(c.word_count_change_id) - min(c.word_count_change_id) into gathered from tasklens.word_count_changes c;
  if gathered > 5000 then
    perform tasklens.merge_word_counts();
  end if;
  return null;
end
$$;
comment on function tasklens.count_entry_words is 'Trigger of keyword_entries and comment_entries: records the differences in word counts.';

insert into tasklens.migrations (version) values ('20261127000320');
