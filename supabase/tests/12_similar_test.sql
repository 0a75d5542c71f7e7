-- Similar tickets: by the best chunk of each, without the ticket itself, and never by chunks of an
-- outdated text.

begin;
select plan(30);

\ir kit/vectors.sql
create function pg_temp.add(ticket bigint, project bigint, "position" integer, text text, vector extensions.vector, model text default 'm', note bigint default null)
returns void
language sql as $$
  insert into public.chunks (project_id, ticket_id, status_change_id, kind, position, text, tokens, input_hash, model, embedding)
  values (project, ticket, note, case when ticket is null then 'project' when note is null then 'ticket' else 'status_note' end, "position", text, 1, 'h', model, vector)
$$;

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
values (11, 1, 1, 'AA-1', 'eleven', 'first part, second part'), (12, 1, 2, 'AA-2', 'twelve', null), (13, 1, 1, 'AA-3', 'thirteen', ''),
  (14, 1, 1, 'AA-4', 'fourteen', 'of many words'), (21, 2, 2, 'BB-1', 'twenty-one', null), (22, 2, 1, 'BB-2', ' ', e'\n');
insert into public.status_changes (status_change_id, ticket_id, note) values (1, 14, 'a note'), (2, 22, 'only a note');
-- Similarities to the first chunk of 11, (1, 0, 0, …), by hand: the first number of each.
select pg_temp.add(11, 1, 0, e'eleven\n\nfirst part,', pg_temp.unit(1)), pg_temp.add(11, 1, 1, 'part, second part', pg_temp.unit(0, 1)),
  pg_temp.add(12, 1, 0, 'twelve', pg_temp.unit(0.6, 0.8)),
  pg_temp.add(13, 1, 0, 'thirteen', pg_temp.unit(0.28, 0, 0.96)), pg_temp.add(14, 1, 0, e'fourteen\n\nof many words', pg_temp.unit(0.5, 0.5, 0.5, 0.5)),
  pg_temp.add(14, 1, 1, 'a note', pg_temp.unit(0.8, 0, 0.6), note => 1), pg_temp.add(21, 2, 0, 'twenty-one', pg_temp.unit(-1)),
  pg_temp.add(22, 2, 0, 'only a note', pg_temp.unit(0.28, 0.96), note => 2),
  pg_temp.add(null, 1, 0, 'Apples', pg_temp.unit(0.96, 0.28)), pg_temp.add(null, 2, 0, 'Bananas', pg_temp.unit(0.96, 0, 0.28));
set local role service_role;

-- Similar to a vector -----------------------------------------------------------------------------

create function pg_temp.like_vector(count integer default 10, exclude bigint default null, project bigint default null) returns setof text
language sql as $$
  select s.ticket_id || ' ' || round(s.similarity::numeric, 6)::real from public.similar_tickets(pg_temp.unit(1), 'm', count, exclude, project) s
$$;
select results_eq($$ select * from pg_temp.like_vector() $$, array['11 1', '14 0.8', '12 0.6', '13 0.28', '22 0.28', '21 -1'],
  'tickets only, each once, by its best chunk, ties by id, at any similarity');
select results_eq($$ select * from pg_temp.like_vector(10, 11) $$, array['14 0.8', '12 0.6', '13 0.28', '22 0.28', '21 -1'], 'without the excluded ticket');
select results_eq($$ select * from pg_temp.like_vector(2, 11) $$, array['14 0.8', '12 0.6'], 'at most match_count rows');
select results_eq($$ select * from pg_temp.like_vector(0, 11) $$, array['14 0.8'], 'at least one row for a match_count of 0');
select results_eq($$ select * from pg_temp.like_vector(10, null, 2) $$, array['22 0.28', '21 -1'], 'within a project');
select is_empty($$ select * from pg_temp.like_vector(10, null, 404) union all select s.ticket_key from public.similar_tickets(pg_temp.unit(1), 'none') s $$,
  'an unknown project, and a model without chunks, give no rows');
select results_eq($$ select ticket_id, ticket_key, ticket_name, project_id, status from public.similar_tickets(pg_temp.unit(1), 'm', 3) $$,
  $$ values (11::bigint, 'AA-1', 'eleven', 1::bigint, 'To Do'), (14, 'AA-4', 'fourteen', 1, 'To Do'), (12, 'AA-2', 'twelve', 1, 'Done') $$,
  'rows have all columns');

-- Linked duplicates are known, in either direction and over one other ticket.
reset role;
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (14, 'duplicates', 11), (14, 'duplicates', 22), (11, 'relates_to', 12);
set local role service_role;
select results_eq($$ select * from pg_temp.like_vector(10, 11) $$, array['12 0.6', '13 0.28', '21 -1'], 'without known duplicates');
select results_eq($$ select * from pg_temp.like_vector(10, 12) $$, array['11 1', '14 0.8', '13 0.28', '22 0.28', '21 -1'], 'with tickets that have another kind of link');
select results_eq($$ select * from pg_temp.like_vector(2, 22) $$, array['12 0.6', '13 0.28'], 'match_count rows are left');
reset role;
delete from public.ticket_links;
set local role service_role;

-- Similar to a ticket -----------------------------------------------------------------------------

create function pg_temp.like_ticket(ticket bigint, model text default 'm') returns setof text
language sql as $$
  select coalesce(string_agg(r ->> 'ticket_key', ' '), case when f.embedded then 'none' else 'not embedded' end)
  from public.find_similar_tickets(ticket, model, 3) f left join lateral jsonb_array_elements(f.results) r on true
  group by f.embedded
$$;
select results_eq($$ select * from public.find_similar_tickets(11, 'm', 1) $$,
  $$ values ('Apples', 'eleven', null::text, true, (
    select jsonb_agg(to_jsonb(s)) from public.similar_tickets(pg_temp.unit(1), 'm', 1, 11, query_text => e'eleven\n\nfirst part, second part') s)) $$,
  'one row, with the most similar tickets');
select results_eq($$ select * from pg_temp.like_ticket(11) $$, array['AA-4 AA-2 AA-3'], 'compared by its first chunk, without the ticket itself');
select results_eq($$ select * from pg_temp.like_ticket(13) $$, array['AA-4 AA-1 AA-2'], 'an empty description is like none');
select results_eq($$ select * from pg_temp.like_ticket(14) $$, array['AA-2 AA-3 BB-2'], 'notes are not part of the ticket''s text');
select is_empty($$ select * from public.find_similar_tickets(404, 'm') $$, 'an unknown ticket has no row');
select results_eq($$ select * from public.find_similar_tickets(14, 'none') $$,
  $$ values ('Apples', 'fourteen', e'fourteen\n\nof many words', false, null::jsonb) $$, 'a ticket without chunks of the model returns its text instead');
select results_eq($$ select * from public.find_similar_tickets(22, 'm') $$, $$ values ('Bananas', ' ', null::text, false, null::jsonb) $$,
  'the text may be null, even if there is a note');

-- An outdated text
-- ---------------------------------------------------------------------------------

create function pg_temp.after(edit text, ticket bigint) returns text
language plpgsql as $$
declare
  told text;
begin
  begin
    execute edit;
    told := (select t from pg_temp.like_ticket(ticket) t);
    raise exception using errcode = 'RB000', message = told;
  exception when sqlstate 'RB000' then
    return told; -- and the edit is undone
  end;
end
$$;
select is(pg_temp.after($$ update public.tickets set name = 'eleventh' where ticket_id = 11 $$, 11), 'not embedded', 'a new name makes the chunk outdated');
select is(pg_temp.after($$ update public.tickets set description = 'another first part, second part' where ticket_id = 11 $$, 11), 'not embedded', 'a new beginning makes the chunk outdated');
select is(pg_temp.after($$ update public.tickets set description = 'first part, and another end' where ticket_id = 11 $$, 11), 'AA-4 AA-2 AA-3',
  'a change after the first chunk does not make it outdated');
select is(pg_temp.after($$ update public.tickets set description = 'first' where ticket_id = 11 $$, 11), 'not embedded', 'a shortened text does');
select is(pg_temp.after($$ update public.tickets set description = 'of many words and more' where ticket_id = 14 $$, 14), 'not embedded', 'an addition to the only chunk does');
select is(pg_temp.after($$ update public.tickets set description = null where ticket_id = 14 $$, 14), 'not embedded', 'a removal from the only chunk does');
select is(pg_temp.after($$ update public.tickets set status_id = 2, project_id = 2 where ticket_id = 14 $$, 14), 'AA-2 AA-3 BB-2', 'a move does not');
select is(pg_temp.after($$ update public.tickets set name = '%', description = null where ticket_id = 13 $$, 13), 'not embedded', 'the text is not used as a pattern');
select is((select text from public.find_similar_tickets(11, 'none')), e'eleven\n\nfirst part, second part', 'edits are undone by the test itself');
select is(pg_temp.after($$ update public.tickets set description = repeat('x', 1000000) where ticket_id = 14 $$, 14), 'not embedded', 'a text of any length is compared');
reset role;
update public.tickets set description = repeat('é', 1000000) where ticket_id = 14;
set local role service_role;
select is((select length(text) from public.find_similar_tickets(14, 'm')), 100000, 'the returned text is as long as a draft may be');

-- Crowds ------------------------------------------------------------------------------------------

reset role;
insert into public.projects (project_id, key, name) select i, 'P' || i, 'project ' || i from generate_series(101, 160) i;
do $$ begin perform pg_temp.add(null, i, 0, 'near', pg_temp.unit(1)) from generate_series(101, 160) i; end $$;
set local role service_role;
select results_eq($$ select * from pg_temp.like_vector(3, 11) $$, array['14 0.8', '12 0.6', '13 0.28'], 'nearer projects do not crowd tickets out');

set local role anon;
select throws_ok($$ select * from public.find_similar_tickets(11, 'm') $$, '42501', null, 'anon is refused');

select * from finish();
rollback;
