-- An index on a shorter form of the vectors can take the place of the one on whole vectors.

begin;
select plan(12);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'One'), (2, 'BB', 'Two');
insert into public.tickets (ticket_id, project_id, status_id, name) select i, 1 + (i % 4 = 0)::integer, 1, 'ticket' from generate_series(1, 1200) i;

-- Seven overlapping clusters.
create function pg_temp.chance(seed bigint, place integer) returns double precision
language sql immutable as $$ select hashint8extended(seed, place) / 9223372036854775808.0 $$;
create function pg_temp.point(seed bigint) returns extensions.vector
language sql as $$
  select extensions.l2_normalize(array_agg(pg_temp.chance(seed % 7, i) + pg_temp.chance(1000 + seed, i) order by i)::extensions.vector) from generate_series(1, 1536) i
$$;
create temp table asked as select q, pg_temp.point(5000 + q) as vector from generate_series(1, 12) q;
\ir kit/indexes.sql
select pg_temp.fill('public.chunks_embedding_idx', $$
  insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  select t.project_id, t.ticket_id, 'ticket', 0, 'text', 1, 'h', 'm', pg_temp.point(t.ticket_id) from public.tickets t $$);
analyze public.chunks;
create or replace function tasklens.few_entries(scope tasklens.scope, required tsquery) returns bigint[]
language sql stable as $$ select null::bigint[] $$;
create temp table nearest as
  select a.q, n.* from asked a cross join lateral (
    select c.ticket_id, 1 - (c.embedding operator(extensions.<=>) a.vector) as similarity from public.chunks c where c.project_id = 2
    order by (c.embedding operator(extensions.<=>) a.vector) + 0 limit 10) n;

-- In the place of the index, as docs/scale.md says.
create function pg_temp.put(form text, class text) returns void
language plpgsql as $$
begin
  execute format('create index chunks_embedding_new_idx on public.chunks using hnsw (%s %s) where embedding_set = 1', form, class);
  drop index public.chunks_embedding_idx;
  alter index public.chunks_embedding_new_idx rename to chunks_embedding_idx;
end
$$;
create function pg_temp.scans() returns bigint
language sql as $$ select pg_stat_get_xact_numscans('public.chunks_embedding_idx'::regclass) $$;

create function pg_temp.check_kind(kind text) returns setof text
language plpgsql as $$
declare
  before constant bigint := pg_temp.scans();
begin
  create temp table got as select a.q, f.* from asked a cross join lateral public.search_by_vector(a.vector, 'm', -1, 10, 2) f;
  return next ok((select count(*) from nearest join got using (q, ticket_id)) >= 0.95 * 120, kind || ': the nearest of a project are found');
  return next is((select count(*)::integer from nearest n join got g using (q, ticket_id) where abs(n.similarity - g.similarity) > 1e-9), 0, kind || ': similarities are those of whole vectors');
  return next cmp_ok(pg_temp.scans() - before, '>=', 12::bigint, kind || ': by the index');
  drop table got;
end
$$;
select * from pg_temp.check_kind('whole vectors');
select pg_temp.put('(extensions.binary_quantize(embedding)::bit(1536))', 'extensions.bit_hamming_ops');
select * from pg_temp.check_kind('signs');
select pg_temp.put('(extensions.subvector(embedding, 1, 512)::extensions.halfvec(512))', 'extensions.halfvec_cosine_ops');
select * from pg_temp.check_kind('the first numbers');
select pg_temp.put('(embedding::extensions.halfvec(1536))', 'extensions.halfvec_cosine_ops');
select * from pg_temp.check_kind('half precision');

select * from finish();
rollback;
