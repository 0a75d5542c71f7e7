-- The cost of a comment does not depend on the number of comments on its ticket: rows read and
-- written are counted per table.

begin;
select plan(14);

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Pumps');
insert into public.tickets (ticket_id, key, project_id, status_id, name) values (11, 'AA-11', 1, 1, 'Crowded'), (12, 'AA-12', 1, 1, 'Quiet');
drop index public.chunks_embedding_idx; -- building its graph would take longest, and it has no ticket ID
insert into public.comments (comment_id, ticket_id, author, body) select n, 11, 'Ada', 'The pump leaks again, part ' || n from generate_series(1, 2000) n;
insert into public.chunks (project_id, ticket_id, comment_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, 11, n, 'comment', 0, 'The pump leaks again', 4, 'h' || n, 'm', pg_temp.unit(cos(n), sin(n)) from generate_series(1, 2000) n;
select from setval(pg_get_serial_sequence('public.comments', 'comment_id'), 10000);
analyze public.comments, public.chunks, public.comment_entries, public.tickets;
delete from tasklens.embedding_jobs;
select tasklens.recount_sources();
select tasklens.merge_word_counts();

-- Small tables are read by sequential scans otherwise.
set local enable_seqscan = off;

create temporary table claimed (jobs jsonb);
create function pg_temp.work() returns table (read bigint, written bigint)
language sql as $$
  select sum(s.seq_tup_read + coalesce(s.idx_tup_fetch, 0))::bigint, sum(s.n_tup_ins + s.n_tup_upd + s.n_tup_del)::bigint
  from pg_catalog.pg_stat_xact_user_tables s where s.schemaname in ('public', 'tasklens')
$$;
-- The rows that a statement reads and writes.
create function pg_temp.costs(statement text, out read bigint, out written bigint)
language plpgsql as $$
declare
  before record;
begin
  select * into before from pg_temp.work();
  execute statement;
  select w.read - before.read, w.written - before.written into costs.read, costs.written from pg_temp.work() w;
end
$$;
create function pg_temp.store(comment bigint) returns boolean
language sql as $$
  select s.stored from tasklens.sources o
  cross join lateral public.read_sources(array[o.source_id]) r
  cross join lateral public.store_chunks(
    jsonb_build_array(jsonb_build_object('source_id', o.source_id, 'source_hash', r.source_hash, 'truncated', false)),
    jsonb_build_array(jsonb_build_object('source_id', o.source_id, 'kind', 'comment', 'position', 0, 'text', 'New', 'tokens', 1, 'input_hash', 'n', 'model', 'm', 'embedding', 1)),
    array[pg_temp.unit(1)]) s
  where o.comment_id = comment
$$;
create temporary table steps (place integer, what text, statement text);
insert into steps values
  (1, 'adding a comment', $$ insert into public.comments (comment_id, ticket_id, author, body) values (%1$s + 9000, %1$s, 'Bo', 'A new gasket') $$),
  (2, 'claiming a comment''s job', $$ insert into claimed select jobs from public.claim_embedding_jobs(10) $$),
  (3, 'reading a comment', $$ select r from tasklens.sources o, public.read_sources(array[o.source_id]) r where o.comment_id = %2$s $$),
  (4, 'storing a comment''s chunk', $$ select pg_temp.store(%2$s) $$),
  (5, 'editing a comment', $$ update public.comments set body = 'An old gasket' where comment_id = %2$s $$),
  (6, 'deleting a comment', $$ delete from public.comments where comment_id = %2$s $$);
create temporary table costs as
select s.*, q.read as read_quiet, q.written as written_quiet, c.read as read_crowded, c.written as written_crowded
from (select * from steps order by place) s
cross join lateral pg_temp.costs(format(s.statement, 12, 9012)) q
cross join lateral pg_temp.costs(format(s.statement, 11, 9011)) c;

select cmp_ok(c.read_crowded, '<=', c.read_quiet + 20, format('%s among 2,000 reads as few rows as on an empty ticket', c.what)) from costs c order by c.place;
select cmp_ok(c.written_crowded, '<=', c.written_quiet + 2, format('%s among 2,000 writes as few rows as on an empty ticket', c.what)) from costs c order by c.place;
select is((select count(*) from claimed, jsonb_array_elements(jobs) j), 2::bigint, 'the two claims returned one job each');

-- Nor on the length of the queue, while nobody has analysed it.
delete from tasklens.embedding_jobs;
insert into tasklens.embedding_jobs (source_id, background, due_at) select s.source_id, true, now() - interval '1 hour' from tasklens.sources s, generate_series(1, 20);
select cmp_ok((select c.read from pg_temp.costs($$
    insert into public.comments (comment_id, ticket_id, author, body) select 20000 + n, 12, 'Bo', 'A new gasket' from generate_series(1, 200) n $$) c),
  '<=', 20 * 200::bigint, 'a batch of comments does not read the queue');

select * from finish();
rollback;
