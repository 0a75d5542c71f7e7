-- Truncating a table leaves no outdated data, and queues the affected sources.

begin;
select plan(7);

\ir kit/jobs.sql

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'TX', 'Taxes');
insert into public.tickets (ticket_id, key, project_id, status_id, name) values (1, 'TX-1', 1, 1, 'Pump'), (2, 'TX-2', 1, 1, 'Valve');
insert into public.status_changes (ticket_id, note) values (1, 'quicksilver');
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, 1, 'ticket', 0, 't', 1, 'h', 'm', ('[1' || repeat(',0', 1535) || ']')::extensions.vector;
delete from tasklens.embedding_jobs;

create function pg_temp.counted(word text) returns numeric
language sql as $$
  select coalesce(sum(c.entries), 0) from (
    select w.word, w.entries from tasklens.word_counts w union all select w.word, w.entries from tasklens.word_count_changes w
  ) c where c.word = counted.word
$$;

truncate public.status_changes cascade;
select is_empty('select from public.chunks', 'truncating status changes cascades to chunks');
select bag_eq('select project_id, ticket_id, background from job',
  $$ values (1::bigint, null::bigint, true), (null, 1, true), (null, 2, true) $$, 'truncating chunks queues all sources as background jobs');
select is_empty($$ select from public.keyword_entries where words @@ 'quicksilver'::tsquery or words @@ 'quicksilv'::tsquery $$, 'no ticket is found by the text of truncated notes');
select is((select count(*) from public.keyword_entries), 3::bigint, 'keyword entries are rebuilt without the truncated notes');

select is(pg_temp.counted(''), 3::numeric, 'the word counts contain three entries');
delete from tasklens.embedding_jobs;
truncate public.projects cascade;
select is(pg_temp.counted(''), 0::numeric, 'truncating projects empties the word counts');
select is_empty('select from job', 'truncating projects leaves the queue empty');

select * from finish();
rollback;
