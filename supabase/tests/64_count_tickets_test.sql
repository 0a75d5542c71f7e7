-- Counts, groups and lists of tickets by filters and words.

begin;
select plan(44);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Blocked'), (3, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Anchors'), (2, 'BB', 'Wheels');
\ir kit/actors.sql
insert into public.tickets (ticket_id, project_id, status_id, key, name, description, assignee, labels, due_date, created_at, resolved_at) values
  (901, 1, 1, 'AA-901', 'Payment fails twice', 'A refund of a card', 'Lena', '{ios,Web}', '2025-03-10', '2025-01-31T23:30:00Z', null),
  (902, 1, 2, 'AA-902', 'Payments are slow', 'Cards time out', 'lena', '{web}', null, '2025-02-10', null),
  (903, 1, 3, 'AA-903', 'The anchor rusts', null, 'lena', '{}', '2025-03-01', '2025-02-11', '2025-02-12'),
  (904, 1, 1, 'AA-904', 'A card is lost', 'No refund', null, '{}', null, '2025-03-01', null),
  (905, 2, 2, 'BB-905', 'Hidden payment', null, 'Hidden', '{hidden}', null, '2025-03-02', null);
insert into public.comments (ticket_id, key, author, body) values (903, 'c', 'Ada', 'The payment came');
select pg_temp.act('service');
create function pg_temp.counted(query_text text, filters text default null) returns text
language sql as $$
  select concat_ws(' ', c.count, case when c.count_capped then 'capped' end, (select string_agg(t ->> 'ticket_key', ',' order by o) from jsonb_array_elements(c.tickets) with ordinality e(t, o)))
  from public.count_tickets(query_text, counted.filters::jsonb) c
$$;
create function pg_temp.grouped(group_by text, period text default 'month', zone text default 'UTC', filters text default null) returns text
language sql as $$
  select string_agg(concat_ws(' ', coalesce(g ->> 'label', '-'), g ->> 'count'), ', ' order by o)
  from public.count_tickets(group_by => grouped.group_by, period => grouped.period, time_zone => grouped.zone, filters => grouped.filters::jsonb) c,
    jsonb_array_elements(c.groups) with ordinality e(g, o)
$$;

select is(pg_temp.counted(q, f), w, concat_ws(' with ', q, f)) from (values
  (null, null, '5 BB-905,AA-904,AA-903,AA-902,AA-901'), ('payment', null, '4 BB-905,AA-903,AA-902,AA-901'),
  ('payment refund', null, '1 AA-901'), -- all words, in one text
  ('"card is lost"', null, '1 AA-904'), ('card -refund', null, '1 AA-902'), ('payment -aa-901', null, '3 BB-905,AA-903,AA-902'), ('-"AA-905" -AA-904 -BB-905 -card', null, '1 AA-903'), ('payment rusts', null, '0'), ('none', '{"projects": ["BB"]}', '0'),
  (null, '{"open": true, "assignee": "LENA"}', '2 AA-902,AA-901'), (null, '{"resolved": {"from": "2025-02-12", "to": "2025-02-12"}}', '1 AA-903'),
  (null, '{"projects": ["none"]}', '0')) x(q, f, w);
-- Signs and common words count where they are phrases or the whole query; what no search can use
-- is refused, never left out in silence.
update public.tickets set description = 'As 2 * 3 is' where ticket_id = 902;
select is(pg_temp.counted(q), w, q) from (values ('"*"', '1 AA-902'), ('*', '1 AA-902'), ('"is"', '2 AA-904,AA-902'), ('is', '2 AA-904,AA-902'), ('"card" "*"', '0')) x(q, w);
select throws_ok(format('select from public.count_tickets(%L)', q), '22023', format('query_text is "%s"', q), q || ' is refused') from (values ('"!"'), ('"card" "!"')) x(q);
update public.tickets set description = 'Cards time out' where ticket_id = 902;
select is(pg_temp.grouped(g, p, z), w, concat_ws(' ', g, p, z)) from (values
  ('assignee', 'month', 'UTC', 'lena 3, Hidden 1, - 1'), -- the most frequent spelling; those without a value, too
  ('status', 'month', 'UTC', 'Blocked 2, To Do 2, Done 1'), ('project', 'month', 'UTC', 'Anchors 4, Wheels 1'), ('open', 'month', 'UTC', 'open 4, done 1'),
  ('label', 'month', 'UTC', 'Web 2, hidden 1, ios 1'), ('created', 'month', 'UTC', '2025-03 2, 2025-02 2, 2025-01 1'),
  ('created', 'month', 'Europe/Berlin', '2025-03 2, 2025-02 3'), ('due', 'year', 'UTC', '2025 2')) x(g, p, z, w);
select is((select jsonb_agg(g ->> 'label' order by o) from public.count_tickets('-AA-903 -AA-901', group_by => g, match_count => 1) c, jsonb_array_elements(c.groups) with ordinality e(g, o)), w::jsonb, 'groups lack excluded keys, by ' || g)
  from (values ('assignee', '["Hidden", "lena", null]'), ('created', '["2025-03", "2025-02"]')) x(g, w);
select is((select jsonb_agg(g -> 'value' order by o) from public.count_tickets(group_by => 'project') c, jsonb_array_elements(c.groups) with ordinality e(g, o)), '[1, 2]',
  'the value of a project is its id');
select results_eq($$ select t ->> 'ticket_key' from public.count_tickets(sort => 'due', ascending => true, match_count => 1), jsonb_array_elements(tickets) t $$,
  $$ values ('AA-903') $$, 'what lacks the date has no place in its order');
select is((select string_agg(concat_ws(' ', coalesce(g ->> 'label', '-'), g ->> 'count'), ', ' order by o)
  from public.count_tickets(group_by => g1, sort => s, ascending => a) c, jsonb_array_elements(c.groups) with ordinality e(g, o)), w, concat_ws(' ', g1, 'by', s, a))
  from (values ('assignee', 'size', true, 'Hidden 1, lena 3, - 1'), ('assignee', 'size', false, 'lena 3, Hidden 1, - 1'), -- those without a value last
    ('created', 'size', true, '2025-01 1, 2025-02 2, 2025-03 2'), ('created', 'created', true, '2025-01 1, 2025-02 2, 2025-03 2')) x(g1, s, a, w);
-- What changed on the day of updated_at, as far as it is stored.
update public.tickets set updated_at = case key when 'AA-901' then created_at else '2026-01-05T10:00:00Z'::timestamptz end;
insert into public.status_changes (ticket_id, status_id, created_at) values (902, 2, '2026-01-05T09:00:00Z'), (903, 3, '2026-01-04T23:59:59Z');
insert into public.comments (ticket_id, key, author, body, created_at) values (902, 'd', 'Ada', 'Slow again', '2026-01-05T10:00:00Z'), (904, 'd', 'Ada', 'Early', '2026-01-04');
update public.comments set created_at = '2026-01-01' where ticket_id = 903;
select is((select string_agg(concat_ws(' ', t ->> 'ticket_key', t ->> 'changes'), ', ' order by t ->> 'ticket_key') from public.count_tickets() c, jsonb_array_elements(c.tickets) t
    where t ->> 'ticket_key' like 'AA-%'), 'AA-901 ["created"], AA-902 ["status", "comment"], AA-903 ["field"], AA-904 ["field"]', 'what changed');
select is((select t -> 'changes' from public.count_tickets(filters => '{"projects": ["AA"]}', sort => 'updated', match_count => 1) c, jsonb_array_elements(c.tickets) t),
  '["status", "comment"]', 'it is sorted by when that was');
select throws_ok(format('select from public.count_tickets(%s)', a), '22023', m, a) from (values
  ('group_by => ''colour''', 'group_by is "colour"'), ('sort => ''votes''', 'sort is "votes"'), ('period => ''hour''', 'period is "hour"'),
  ('group_by => ''created'', time_zone => ''Mars''', 'time zone "Mars" not recognized')) x(a, m);
select pg_temp.act('viewer');
select is(concat_ws(' | ', pg_temp.counted('payment'), pg_temp.grouped('label'), pg_temp.counted(null, '{"assignee": "hidden"}')), '3 AA-903,AA-902,AA-901 | Web 2, ios 1 | 0',
  'what the caller may not see is not counted');
-- What is read for a word must not depend on tickets that the caller may not see, or time would
-- tell of them. The indexes on words hold all tickets.
reset role;
set local enable_seqscan = off;
create function pg_temp.scans(actor text) returns bigint language plpgsql as $$
declare
  before constant bigint := pg_stat_get_xact_numscans('public.keyword_entries_words_idx'::regclass) + pg_stat_get_xact_numscans('public.comment_entries_words_idx'::regclass);
begin
  perform pg_temp.act(actor);
  perform public.count_tickets('payment -"refund"', '{"projects": ["AA"]}', 'label');
  return pg_stat_get_xact_numscans('public.keyword_entries_words_idx'::regclass) + pg_stat_get_xact_numscans('public.comment_entries_words_idx'::regclass) - before;
end
$$;
select is(pg_temp.scans('viewer'), 0::bigint, 'a member''s count does not read the words of other projects');
select cmp_ok(pg_temp.scans('service'), '>', 0::bigint, 'the service''s count uses the indexes');
select * from finish();
rollback;
