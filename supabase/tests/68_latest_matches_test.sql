-- A list by time begins with the latest of all matches, however many there are.

begin;
select plan(6);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name, created_at, updated_at) values (1, 'AA', 'Pumps', '2025-01-01Z', '2025-01-01Z'), (2, 'BB', 'A pump of its own', '2025-07-01 12:00Z', '2025-07-01 12:00Z');
-- The lower the id, the newer; each was updated the other way round. Every third has the word in
-- its description, every third in a comment.
insert into public.tickets (ticket_id, key, project_id, status_id, name, description, created_at, updated_at)
select i, 'AA-' || i, 1, 1, case i % 3 when 0 then 'A pump leaks' else 'It leaks' end, case i % 3 when 1 then 'The pump of station ' || i end,
  '2025-08-01Z'::timestamptz - make_interval(days => i), '2025-08-01Z'::timestamptz + make_interval(days => i)
from generate_series(1, 90) i;
insert into public.comments (ticket_id, body) select i, 'Look at the pump' from generate_series(2, 90, 3) i;
select tasklens.merge_word_counts();

create function pg_temp.latest(typed text, latest text, filters jsonb default null, most integer default 4) returns text
language sql as $$
  select string_agg(coalesce(m.ticket_id::text, 'project'), ' ' order by m.place)
  from tasklens.list_matches(tasklens.begin_search(typed, filters, null, null, 0), most, latest) with ordinality m(project_id, ticket_id, complete, place)
$$;
select is(pg_temp.latest('pump', 'created_at'), '1 2 3 4', 'newest first');
select is(pg_temp.latest('pump', 'updated_at'), '90 89 88 87', 'or latest changed first');
select is(pg_temp.latest('pump -station', 'created_at'), '2 3 5 6', 'what is excluded leaves no gap');
select is(pg_temp.latest('pump', 'created_at', '{"created": {"to": "2025-07-20"}}'), '12 13 14 15', 'within filters');
select is(pg_temp.latest(null, 'updated_at'), '90 89 88 87', 'without words too');
-- Fewer are looked up than hold the word: in texts, names and comments.
select is((
    select string_agg(coalesce(c.ticket_id::text, 'project'), ' ' order by c.place)
    from tasklens.keyword_candidates(tasklens.begin_search('pump', null, null, null, 0), 12, 40, 'created_at') with ordinality
      c(keyword_entry_id, project_id, ticket_id, gain, comment_ids, place) where c.place <= 8),
  '1 2 3 4 5 6 7 8', 'the latest are looked up where not all are');

select * from finish();
rollback;
