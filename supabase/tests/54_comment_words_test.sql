-- Keyword search in comments: words, phrases, exclusions, filters and visibility.

begin;
select plan(46);

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Pumps'), (2, 'BB', 'Wheels');
insert into public.tickets (ticket_id, key, project_id, status_id, name, description) values
  (11, 'AA-11', 1, 1, 'Pump leaks', 'Water under the housing'), (12, 'AA-12', 1, 2, 'Pump hums', 'A low tone'),
  (13, 'AA-13', 1, 1, 'Valve sticks', null), (21, 'BB-21', 2, 1, 'Wheel squeaks', 'On cold days'), (22, 'BB-22', 2, 2, 'Wheel wobbles', 'gasket');
insert into public.comments (comment_id, ticket_id, author, body) values
  (1, 11, 'Ada', 'The gasket was worn out, error P4711 in the controller board'), (2, 11, 'Bo', 'Replaced by a new one'),
  (3, 12, 'Ada', 'Loose bearing, see the gasket'), (4, 21, 'Cy', 'Dry bearing oiled with xylotol'), (5, 13, null, 'worn bearing under the board of the controller');

create function pg_temp.found(query text, project bigint default null, status text default null) returns text
language sql as $$
  select string_agg(t.key, ' ' order by s.rank) from public.search_by_keyword(query, 50, project, status) s join public.tickets t using (ticket_id)
$$;

select from setval(pg_get_serial_sequence('public.comments', 'comment_id'), 5000);

-- Words -------------------------------------------------------------------------------------------

select is(pg_temp.found('P4711'), 'AA-11', 'a ticket is found by a word that only a comment contains');
select is(pg_temp.found('bearings'), 'AA-12 AA-13 BB-21', 'words of comments are stemmed');
select is(pg_temp.found('gasket'), 'BB-22 AA-12 AA-11', 'a match in a description ranks above one in a comment, and a short comment above a long one');
select is(pg_temp.found('P4711', 2), null, 'a project filter excludes comments of other projects');
select is(pg_temp.found('gasket', 1), 'AA-12 AA-11', 'a project filter keeps comments of its project');
select is(pg_temp.found('gasket', null, 'done'), 'BB-22 AA-12', 'a status filter applies to the tickets of comments');
select is(pg_temp.found('xylotoll'), 'BB-21', 'a misspelling is corrected to a word of a comment');
select is((select array_agg(w order by w) from unnest((tasklens.plan_words('gasket P4711 xylotol', null)).terms) w), '{''4711'',''gasket'',''p4711'',''xylotol''}', 'plan_words keeps words that only comments contain');
select is((tasklens.plan_words('gaskett', null)).idfs[1] / (tasklens.plan_words('gasket', null)).idfs[1], extensions.similarity('gasket', 'gaskett')::double precision / 2,
  'a replacement weighs half its similarity of what the word weighs, comments counted');
select is((select array[w.entries, w.comments] from tasklens.word_entries(array['gasket']) w), array[1, 2]::bigint[], 'comments that contain a word are counted separately from entries');
select is((select array_agg(w.comments order by w.word) from tasklens.word_entries(array['', ' ']) w), array[5, (select sum(e.length) from public.comment_entries e)]::bigint[],
  'all comments and their words are counted');

-- Only the best comment counts, not the number of comments.
insert into public.tickets (ticket_id, key, project_id, status_id, name, description) values
  (31, 'AA-31', 1, 1, 'Chatter', 'x'), (32, 'AA-32', 1, 1, 'Talk', 'y'), (33, 'AA-33', 1, 1, 'Rotor', 'The rotor turns');
insert into public.comments (ticket_id, body) select 31, 'rotor spins' from generate_series(1, 300) n;
insert into public.comments (ticket_id, body) values (32, 'rotor spins');
select is(pg_temp.found('rotor'), 'AA-33 AA-31 AA-32', '300 matching comments do not outrank a matching name');
select is((select count(distinct s.keyword_score) from public.search_by_keyword('rotor') s where s.ticket_id in (31, 32)), 1::bigint, '300 matching comments score as one');

-- Adjacent words
insert into public.tickets (ticket_id, key, project_id, status_id, name, description) values (41, 'AA-41', 1, 1, 'One', 'o'), (42, 'AA-42', 1, 1, 'Two', 'o');
insert into public.comments (ticket_id, body) values (41, 'broker cannot reach zookeeper quorum'), (42, 'quorum of zookeeper broker reach cannot');
select is(pg_temp.found('zookeeper quorum'), 'AA-41 AA-42', 'adjacent words in a comment score higher');

-- Phrases -----------------------------------------------------------------------------------------

select is(pg_temp.found('"controller board"'), 'AA-11', 'a phrase matches within one comment');
select is(pg_temp.found('"gasket replaced"'), 'BB-22 AA-11 AA-12', 'a phrase that no text contains is treated as its words');
select is(pg_temp.found('"loose bearing" pump'), 'AA-12', 'a ticket without the phrase is not found by the other words');
select is(pg_temp.found('AA-11 "controller board"'), 'AA-11', 'a ticket named by key passes if a comment contains the phrase');
select is(pg_temp.found('"controller board"', 2), null, 'a phrase in comments respects the project filter');

-- Exclusion ---------------------------------------------------------------------------------------

select is(pg_temp.found('pump -gasket'), null, 'tickets are excluded by a word in a comment');
select is(pg_temp.found('wheel -gasket'), 'BB-21', 'tickets are excluded by a word in the description');
select is(pg_temp.found('pump -"controller board"'), 'AA-12', 'tickets are excluded by a phrase in a comment');
select is(pg_temp.found('AA-11 -gasket'), null, 'a ticket named by key is excluded by a word in a comment');

-- Counting ----------------------------------------------------------------------------------------

create function pg_temp.facets(query text, project bigint default null, status text default null) returns text
language sql as $$
  select string_agg(f.label || ' ' || f.count || case when f.capped then '+' else '' end, ', ' order by f.label)
  from public.search_facets(query, project_filter => project, status_filter => status) f where f.facet = 'project'
$$;
select is(pg_temp.facets('gasket'), 'Pumps 2, Wheels 1', 'facets count tickets that match by comments');
select is(pg_temp.facets('gasket bearing'), 'Pumps 3, Wheels 2', 'facets count each ticket once');
select is(pg_temp.facets('rotor'), 'Pumps 3', 'facets count a ticket with many matching comments once');
select is(pg_temp.facets('"controller board"'), 'Pumps 1', 'facets count tickets with a phrase in a comment');
select is(pg_temp.facets('gasket bearing -loose'), 'Pumps 2, Wheels 2', 'facets exclude tickets by words in comments');
select is(pg_temp.facets('gasket', null, 'Done'), 'Pumps 1, Wheels 1', 'facets of comment matches respect the status filter');
-- Many matches, with and without a filter that leaves few tickets.
insert into public.comments (ticket_id, body) select 31 + n % 3, 'sprocket ' || n from generate_series(1, 3000) n;
select is(pg_temp.facets('sprocket gasket'), 'Pumps 5, Wheels 1', 'thousands of matching comments count as their five tickets');
select is(pg_temp.facets('sprocket gasket', null, 'Done'), 'Pumps 1, Wheels 1', 'a filter that leaves few tickets gives the same counts');

-- Phrases and exclusions in vector search ---------------------------------------------------------

insert into public.chunks (project_id, ticket_id, comment_id, kind, position, text, tokens, input_hash, model, embedding) values
  (1, 11, null, 'ticket', 0, 'Pump leaks', 1, 'h', 'm', pg_temp.unit(1)), (1, 12, null, 'ticket', 0, 'Pump hums', 1, 'h', 'm', pg_temp.unit(0.9, sqrt(1 - 0.81))),
  (1, 11, 1, 'comment', 0, 'The gasket was worn out', 1, 'h', 'm', pg_temp.unit(0, 1)), (2, 21, null, 'ticket', 0, 'Wheel squeaks', 1, 'h', 'm', pg_temp.unit(0.8, 0.6)),
  (2, 21, 4, 'comment', 0, 'Dry bearing', 1, 'h', 'm', pg_temp.unit(0, 0, 1));
create function pg_temp.near(query text) returns text
language sql as $$
  select string_agg(t.key, ' ' order by s.similarity desc)
  from public.search_hybrid(query, pg_temp.unit(1), 'm', 0.5) s join public.tickets t using (ticket_id) where s.similarity is not null
$$;
select is(pg_temp.near('pump'), 'AA-11 AA-12 BB-21', 'vector search returns tickets above the threshold');
select is(pg_temp.near('pump "controller board"'), 'AA-11', 'vector search returns only tickets with the phrase in a comment');
select is(pg_temp.near('pump -gasket'), 'BB-21', 'vector search excludes tickets by a word in a comment');

-- Columns -----------------------------------------------------------------------------------------

select results_eq(
  $$ select s.ticket_id, s.comment, s.highlight from public.search_hybrid('P4711 gasket worn', project_filter => 1, match_count => 1) s $$,
  $$ select 11::bigint, jsonb_build_object('comment_id', 1, 'author', 'Ada', 'created_at', c.created_at), 'The <mark>gasket</mark> was <mark>worn</mark> out' from public.comments c where c.comment_id = 1 $$,
  'a ticket found by a comment has the comment''s ID, author, time and highlight');
select is((select s.comment from public.search_hybrid('pump leaks', match_count => 1) s), null, 'a ticket found by its own text has no comment');
select results_eq(
  $$ select r.ticket_id, r.kind, r.comment - 'created_at', r.comment -> 'created_at' = (select to_jsonb(c.created_at) from public.comments c where c.comment_id = 4)
     from public.retrieve_chunks(pg_temp.unit(0, 0, 1), 'm', 0.5) r $$,
  $$ values (21::bigint, 'comment', '{"comment_id": 4, "author": "Cy"}'::jsonb, true) $$, 'retrieve_chunks returns a comment with its author and time');

-- Visibility --------------------------------------------------------------------------------------

\ir kit/actors.sql
create function pg_temp.found_by(actor text, query text) returns text
language plpgsql as $$
begin
  perform pg_temp.act(actor);
  return pg_temp.found(query);
end
$$;
select is(pg_temp.found_by('viewer', 'bearing'), 'AA-12 AA-13', 'a user finds comments of their project');
select is(pg_temp.found_by('outsider', 'bearing'), 'BB-21', 'a user of another project finds that project''s comments');
select is(pg_temp.found_by('viewer', 'xylotol'), null, 'a word that occurs only in invisible comments is treated as unknown');
select is(pg_temp.found_by('viewer', '"dry bearing"'), 'AA-12 AA-13', 'a phrase that occurs only in invisible comments is treated as its words');
select is(pg_temp.found_by('stranger', 'bearing'), null, 'a user without projects finds no comments');
reset role;

-- Editing, moving, deleting -----------------------------------------------------------------------

update public.comments set body = 'Nothing to see' where comment_id = 1;
select is(pg_temp.found('P4711'), null, 'an edited comment is no longer found by its old words');
update public.comments set ticket_id = 13 where comment_id = 4;
select is(pg_temp.found('xylotol'), 'AA-13', 'a moved comment is found at its new ticket');
delete from public.comments where comment_id = 4;
select is(pg_temp.found('xylotol'), null, 'a deleted comment is no longer found');
select is((select w.comments from tasklens.word_entries(array['xylotol']) w), 0::bigint, 'a deleted comment is no longer counted');

select * from finish();
rollback;
