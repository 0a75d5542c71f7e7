-- An index, in a file of its own: a migration locks one table that is in use. "if not exists",
-- because a large one is built before, concurrently (docs/upgrade.md).
set local lock_timeout = '2s';

create index if not exists comments_author_idx on public.comments (author);
insert into tasklens.installed_parts
select p.kind, p.part, p.on_table, p.definition from tasklens.present_parts() p where p.part = 'comments_author_idx on public.comments';

insert into tasklens.migrations (version) values ('20990101000010');
