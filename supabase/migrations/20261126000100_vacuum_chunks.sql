-- A vacuum repairs the graph of the vector index: some 3 ms of processor time for almost every
-- chunk that stays. With Postgres's default delay of 2 ms that takes a third of a processor for
-- minutes, and the 95th percentile of a search grows by half. With 5 ms it takes a sixth, for
-- twice as long.

set local lock_timeout = '2s';
alter table public.chunks set (autovacuum_vacuum_cost_delay = 5);

insert into private.migrations (version) values ('20261126000100');
