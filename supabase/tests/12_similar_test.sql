-- Similar tickets: compared by the best chunk of each, without the ticket itself, and never by
-- chunks of an outdated text.

begin;
select plan(31);

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
  select s.ticket_id || ' ' || round(s.similarity::numeric, 6)::real from public.similar_tickets(pg_temp.unit(1), 'm', count, exclude, tasklens.check_arguments(null, project_filter => project)) s
$$;
select results_eq($$ select * from pg_temp.like_vector() $$, array['11 1', '14 0.8', '12 0.6', '13 0.28', '22 0.28', '21 -1'],
  'only tickets are returned, each once, by the similarity of its best chunk, ties by id, with no threshold');
select results_eq($$ select * from pg_temp.like_vector(10, 11) $$, array['14 0.8', '12 0.6', '13 0.28', '22 0.28', '21 -1'], 'the excluded ticket is not returned');
select results_eq($$ select * from pg_temp.like_vector(2, 11) $$, array['14 0.8', '12 0.6'], 'match_count limits the number of similar tickets');
select results_eq($$ select * from pg_temp.like_vector(0, 11) $$, array['14 0.8'], 'a match_count of 0 returns one similar ticket');
select results_eq($$ select * from pg_temp.like_vector(10, null, 2) $$, array['22 0.28', '21 -1'], 'the project filter excludes tickets of other projects');
select is_empty($$ select * from pg_temp.like_vector(10, null, 404) union all select s.ticket_key from public.similar_tickets(pg_temp.unit(1), 'none') s $$,
  'an unknown project and a model without chunks return no tickets');
select results_eq($$ select ticket_id, ticket_key, ticket_name, project_id, status from public.similar_tickets(pg_temp.unit(1), 'm', 3) $$,
  $$ values (11::bigint, 'AA-1', 'eleven', 1::bigint, 'To Do'), (14, 'AA-4', 'fourteen', 1, 'To Do'), (12, 'AA-2', 'twelve', 1, 'Done') $$,
  'each similar ticket has its key, name, project and status');

-- Links mark known duplicates, in either direction and through one other ticket.
reset role;
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (14, 'duplicates', 11), (14, 'duplicates', 22), (11, 'relates_to', 12);
set local role service_role;
select results_eq($$ select * from pg_temp.like_vector(10, 11) $$, array['12 0.6', '13 0.28', '21 -1'], 'known duplicates of the excluded ticket are not returned');
select results_eq($$ select * from pg_temp.like_vector(10, 12) $$, array['11 1', '14 0.8', '13 0.28', '22 0.28', '21 -1'], 'tickets with a link of another kind are returned');
select results_eq($$ select * from pg_temp.like_vector(2, 22) $$, array['12 0.6', '13 0.28'], 'leaving out known duplicates does not reduce the number of results');
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
    select jsonb_agg(to_jsonb(s)) from public.similar_tickets(pg_temp.unit(1), 'm', 1, 11, query_text => e'eleven\n\nfirst part, second part') s), 11::bigint) $$,
  'one row is returned, with the most similar tickets as JSON');
select results_eq($$ select * from pg_temp.like_ticket(11) $$, array['AA-4 AA-2 AA-3'], 'a ticket is compared by its first chunk and is not in its own results');
select results_eq($$ select * from pg_temp.like_ticket(13) $$, array['AA-4 AA-1 AA-2'], 'a ticket with an empty description is compared by its name');
select results_eq($$ select * from pg_temp.like_ticket(14) $$, array['AA-2 AA-3 BB-2'], 'a ticket is compared by its own text, not by its notes');
select results_eq($$ select * from public.find_similar_tickets(ticket_key => 'aa-1', embedding_model => 'm', match_count => 1) $$, $$ select * from public.find_similar_tickets(11, 'm', 1) $$, 'a ticket is found by its key in any case');
select is_empty($$ select * from public.find_similar_tickets(404, 'm') union all select * from public.find_similar_tickets(embedding_model => 'm', ticket_key => 'NONE-1') $$, 'an unknown ticket returns no row');
select results_eq($$ select * from public.find_similar_tickets(14, 'none') $$,
  $$ values ('Apples', 'fourteen', e'fourteen\n\nof many words', false, null::jsonb, 14::bigint) $$, 'a ticket without chunks of the model returns its text and no results');
select results_eq($$ select * from public.find_similar_tickets(22, 'm') $$, $$ values ('Bananas', ' ', null::text, false, null::jsonb, 22::bigint) $$,
  'a ticket with a note and no other text returns a null text');

-- Outdated texts ---------------------------------------------------------------------------------

create function pg_temp.after(edit text, ticket bigint) returns text
language plpgsql as $$
declare
  outcome text;
begin
  begin
    execute edit;
    outcome := (select t from pg_temp.like_ticket(ticket) t);
    raise exception using errcode = 'RB000', message = outcome;
  exception when sqlstate 'RB000' then
    return outcome; -- The exception has undone the edit.
  end;
end
$$;
select is(pg_temp.after($$ update public.tickets set name = 'eleventh' where ticket_id = 11 $$, 11), 'not embedded', 'a ticket counts as not embedded after its name changes');
select is(pg_temp.after($$ update public.tickets set description = 'another first part, second part' where ticket_id = 11 $$, 11), 'not embedded', 'a ticket counts as not embedded after the beginning of its description changes');
select is(pg_temp.after($$ update public.tickets set description = 'first part, and another end' where ticket_id = 11 $$, 11), 'AA-4 AA-2 AA-3',
  'a change after the first chunk leaves the first chunk valid');
select is(pg_temp.after($$ update public.tickets set description = 'first' where ticket_id = 11 $$, 11), 'not embedded', 'a ticket counts as not embedded after its text is cut short within the first chunk');
select is(pg_temp.after($$ update public.tickets set description = 'of many words and more' where ticket_id = 14 $$, 14), 'not embedded', 'a ticket of one chunk counts as not embedded after its text gets longer');
select is(pg_temp.after($$ update public.tickets set description = null where ticket_id = 14 $$, 14), 'not embedded', 'a ticket of one chunk counts as not embedded after its description is removed');
select is(pg_temp.after($$ update public.tickets set status_id = 2, project_id = 2 where ticket_id = 14 $$, 14), 'AA-2 AA-3 BB-2', 'a move to another project and status leaves the chunks valid');
select is(pg_temp.after($$ update public.tickets set name = '%', description = null where ticket_id = 13 $$, 13), 'not embedded', 'a % in the new text does not match the old chunk as a pattern');
select is((select text from public.find_similar_tickets(11, 'none')), e'eleven\n\nfirst part, second part', 'this test rolls back its edits');
select is(pg_temp.after($$ update public.tickets set description = repeat('x', 1000000) where ticket_id = 14 $$, 14), 'not embedded', 'a text of a million characters is compared with its chunk');
reset role;
update public.tickets set description = repeat('é', 1000000) where ticket_id = 14;
set local role service_role;
select is((select length(text) from public.find_similar_tickets(14, 'm')), 100000, 'the returned text is limited to the length of a draft, 100,000 characters');

-- Many nearer projects ----------------------------------------------------------------------------

reset role;
insert into public.projects (project_id, key, name) select i, 'P' || i, 'project ' || i from generate_series(101, 160) i;
do $$ begin perform pg_temp.add(null, i, 0, 'near', pg_temp.unit(1)) from generate_series(101, 160) i; end $$;
set local role service_role;
select results_eq($$ select * from pg_temp.like_vector(3, 11) $$, array['14 0.8', '12 0.6', '13 0.28'], 'nearer projects do not crowd out tickets');

set local role anon;
select throws_ok($$ select * from public.find_similar_tickets(11, 'm') $$, '42501', null, 'anon cannot call find_similar_tickets');

select * from finish();
rollback;
