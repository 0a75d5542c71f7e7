-- A user has one vote per document, the service any number. The score depends only on the
-- numbers of votes. The Go tests show, with several sessions, that no vote is lost.

begin;
select plan(36);

insert into public.projects (project_id, key, name) values (1, 'AA', 'Pumps'), (2, 'BB', 'Wheels');
\ir kit/actors.sql
grant select on actors to authenticated, service_role;
\ir kit/documents.sql
insert into public.documents (id, title) values (pg_temp.doc(1), 'one'), (pg_temp.doc(2), 'two'), (pg_temp.doc(3), 'three');
create function pg_temp.score(digit integer) returns numeric language sql as $$ select round(utility_score::numeric, 6) from public.documents where id = pg_temp.doc(digit) $$;
create function pg_temp.votes(digit integer) returns text
language sql as $$ select helpful_votes || ' ' || unhelpful_votes from public.documents where id = pg_temp.doc(digit) $$;
-- The score after an actor's votes. The actor stays set.
create function pg_temp.vote(actor text, digit integer, helpful boolean, times integer default 1) returns numeric
language plpgsql as $$
begin
  perform pg_temp.act(actor);
  for i in 1..times loop perform public.rate_document(pg_temp.doc(digit), helpful); end loop;
  perform set_config('role', 'none', true);
  return (select pg_temp.score(digit));
end
$$;
create function pg_temp.user_id(actor text) returns uuid language sql as $$ select user_id from actors where name = actor $$;

-- Votes of the service ----------------------------------------------------------------------------

select is(pg_temp.vote('service', 1, true), 0.5, 'a helpful vote raises a score of 0 to 0.5');
select is(pg_temp.vote('service', 1, true, 9), round(100 / 29.0, 6), 'ten helpful votes of the service all count');
select is(pg_temp.vote('service', 1, false, 10), round(100 / 39.0, 6), 'unhelpful votes lower the score');
select is(pg_temp.votes(1), '10 10', 'the service''s votes are counted');
select is(public.rate_document(gen_random_uuid(), true), null, 'rating an unknown document returns null');
select is(public.rate_document(pg_temp.doc(1), null), null, 'a null vote returns null');
select is(pg_temp.votes(1), '10 10', 'a null vote is not counted');
insert into public.document_votes (document_id, helpful) select pg_temp.doc(2), true from generate_series(1, 2000);
select is(pg_temp.score(2), round(20000 / 2019.0, 6), 'the score of 2,000 helpful votes is below 10');

-- Votes of users ----------------------------------------------------------------------------------

select is(pg_temp.vote('viewer', 3, true, 100), 0.5, 'repeated votes of a user count once');
select is(pg_temp.vote('viewer', 3, false), 0.0, 'a user''s newest vote replaces the previous one');
select is(pg_temp.vote('member', 3, true) || ' ' || pg_temp.votes(3), round(10 / 21.0, 6) || ' 1 1', 'votes of different users are counted separately');
select is(pg_temp.vote('viewer', 3, true) || ' ' || pg_temp.votes(3), round(20 / 21.0, 6) || ' 2 0', 'the score does not depend on the order of votes');
select is(pg_temp.vote('stranger', 3, true) || ' ' || pg_temp.votes(3), round(20 / 21.0, 6) || ' 2 0', 'a vote of a user without projects is not counted');
select is(pg_temp.attempt('anon', $$ select public.rate_document(pg_temp.doc(3), true) $$), '-', 'anon cannot vote');
select bag_eq($$ select user_id, helpful from public.document_votes where document_id = pg_temp.doc(3) $$,
  $$ values (pg_temp.user_id('viewer'), true), (pg_temp.user_id('member'), true) $$, 'users'' votes are stored with their user IDs');
select is_empty($$ select from public.document_votes where document_id <> pg_temp.doc(3) and user_id is not null $$, 'the service''s votes have no user ID');

-- Users can read and write only their own votes. Outcomes: anon stranger outsider viewer member
-- admin service.
select results_eq($$ select s.statement, pg_temp.outcomes(s.statement) from (values
    (1, 'select from document_votes where user_id is not null'),
    (2, 'insert into document_votes (document_id, user_id, helpful) values (pg_temp.doc(1), auth.uid(), true)'),
    (3, 'insert into document_votes (document_id, user_id, helpful) select pg_temp.doc(1), pg_temp.user_id(''viewer''), true'),
    (4, 'insert into document_votes (document_id, helpful) values (pg_temp.doc(1), true)'),
    (5, 'insert into document_votes (document_id, user_id, helpful, voted_at) values (pg_temp.doc(1), auth.uid(), true, now())'),
    (6, 'update document_votes set helpful = false where user_id is not null'),
    (7, 'update document_votes set user_id = gen_random_uuid() where user_id = auth.uid()'),
    (8, 'update document_votes set document_id = pg_temp.doc(1) where user_id = auth.uid()'),
    (9, 'delete from document_votes where user_id is not null'),
    (10, 'update documents set helpful_votes = 9')
  ) s(place, statement) order by s.place $$,
  $$ values
    ('select from document_votes where user_id is not null', '- 0 0 1 1 0 2'),
    ('insert into document_votes (document_id, user_id, helpful) values (pg_temp.doc(1), auth.uid(), true)', '- - 1 1 1 1 1'),
    ('insert into document_votes (document_id, user_id, helpful) select pg_temp.doc(1), pg_temp.user_id(''viewer''), true', '- - - 1 - - 1'),
    ('insert into document_votes (document_id, helpful) values (pg_temp.doc(1), true)', '- - - - - - 1'),
    ('insert into document_votes (document_id, user_id, helpful, voted_at) values (pg_temp.doc(1), auth.uid(), true, now())', '- - - - - - 1'),
    ('update document_votes set helpful = false where user_id is not null', '- 0 0 1 1 0 2'),
    ('update document_votes set user_id = gen_random_uuid() where user_id = auth.uid()', '- - - - - - 0'),
    ('update document_votes set document_id = pg_temp.doc(1) where user_id = auth.uid()', '- - - - - - 0'),
    ('delete from document_votes where user_id is not null', '- 0 0 1 1 0 2'),
    ('update documents set helpful_votes = 9', '- - - - - - 3') $$,
  'users read and write only their own votes');

-- Scores written directly -------------------------------------------------------------------------

set local role service_role;
update public.documents set utility_score = 5 where id = pg_temp.doc(3);
select is(pg_temp.score(3), 5.0, 'a score can be written');
select is(round(public.rate_document(pg_temp.doc(3), true)::numeric, 6), round((5 * 21 + 10) / 22.0, 6), 'a helpful vote starts from the written score');
select is(round(public.rate_document(pg_temp.doc(3), false)::numeric, 6), round((5 * 21 + 10) / 23.0, 6), 'an unhelpful vote starts from the written score');
update public.documents set utility_score = 0 where id = pg_temp.doc(2);
select is(round(public.rate_document(pg_temp.doc(2), true)::numeric, 6), round(10 / 2020.0, 6), 'a vote moves a written score little if there are many votes');
delete from public.document_votes where document_id = pg_temp.doc(2);
select is(pg_temp.score(2), 0.0, 'a written score stays at least 0 when votes are deleted');
update public.documents set utility_base = 2 where id = pg_temp.doc(2);
select is(pg_temp.score(2), 2.0, 'utility_base can be written');
select is(round(public.rate_document(pg_temp.doc(2), true)::numeric, 6), 2.4, 'a helpful vote moves the base by a twentieth of the distance to 10');
select is(round(public.rate_document(pg_temp.doc(2), false)::numeric, 6), round(48 / 21.0, 6), 'an unhelpful vote lowers a score with a written base');
update public.documents set utility_base = 0 where id = pg_temp.doc(2);
select is(pg_temp.score(2), round(10 / 21.0, 6), 'with the base 0 a score is computed from the votes alone');
update public.documents set utility_score = 1e6 where id = pg_temp.doc(2);
select is(pg_temp.score(2), 1e6, 'a written score above 10 is kept');
select ok(public.rate_document(pg_temp.doc(2), false) < 10, 'a vote brings a score above 10 below 10');
insert into public.documents (id, title, utility_score) values (pg_temp.doc(4), 'four', 5);
select is(round(public.rate_document(pg_temp.doc(4), false)::numeric, 6), 4.75, 'a vote starts from the score of an inserted document');
update public.documents set keywords = '{k}', archived = true where id = pg_temp.doc(4);
select is(pg_temp.score(4), 4.75, 'other edits keep the score');

-- Deleted votes -----------------------------------------------------------------------------------

update public.documents set utility_base = 0;
delete from public.document_votes where user_id = pg_temp.user_id('viewer');
select is(pg_temp.votes(3) || ' ' || pg_temp.score(3), '2 1 ' || round(20 / 22.0, 6), 'deleting a user''s votes updates counts and score');
update public.document_votes set document_id = pg_temp.doc(4) where user_id = pg_temp.user_id('member');
select is(pg_temp.votes(3) || ' ' || pg_temp.votes(4), '1 1 1 1', 'moving votes to another document updates the counts of both');
select ok(public.delete_document(pg_temp.doc(3)), 'a document with votes is deleted');
select is_empty($$ select from public.document_votes where document_id = pg_temp.doc(3) $$, 'deleting a document deletes its votes');
select is_empty($$ select id from public.documents d where (d.helpful_votes, d.unhelpful_votes) <> (
    select count(*) filter (where v.helpful), count(*) filter (where not v.helpful) from public.document_votes v where v.document_id = d.id) $$,
  'the vote counts of all documents match the votes');
reset role;
truncate public.document_votes;
select is((select max(helpful_votes + unhelpful_votes) || ' ' || max(utility_score) from public.documents), '0 0', 'truncating votes resets counts and scores');

select * from finish();
rollback;
