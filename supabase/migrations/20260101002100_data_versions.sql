-- Which state of the data a result was made of, so that what was remembered of an older one is not given out. Every
-- transaction that changes what a search can find adds one random number for each project it touches; the version is the
-- sum of those that a snapshot sees. So it moves when the writer commits, not before; two versions are the same only where
-- the same changes are in, even after a database was set back to an earlier day; and no writer waits for another because
-- of it, for each adds a row of its own, and now and then some writer adds up what has gathered.

create table private.data_versions (
  project_id bigint primary key,
  total numeric not null
);
comment on table private.data_versions is 'The changes of each project, added up. Project 0: those that concern all; -1: those of documents; below it: those of users'' memberships. A row outlives its project.';

create table private.data_version_changes (
  project_id bigint not null,
  -- A number of a transaction can come again in a copy of the database, but not at the same moment.
  transaction_id xid8 not null default pg_current_xact_id(),
  started_at timestamptz not null default now(),
  change bigint not null default hashtextextended(gen_random_uuid()::text, 0),
  primary key (project_id, transaction_id, started_at)
);
comment on table private.data_version_changes is 'What is to be added to data_versions, a row for each transaction and project. What counts is the sum of both.';

alter table private.data_versions enable row level security;
alter table private.data_version_changes enable row level security;

-- Adds up the changes, unless somebody else is at it.
create function private.merge_data_versions() returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if not private.may_merge('private.merge_data_versions') then
    return;
  end if;
  with gone as (
    delete from private.data_version_changes returning data_version_changes.project_id, data_version_changes.change
  )
  insert into private.data_versions as v (project_id, total)
  select g.project_id, sum(g.change) from gone g group by g.project_id
  on conflict (project_id) do update set total = v.total + excluded.total;
end
$$;
comment on function private.merge_data_versions() is 'Adds the gathered changes to data_versions; does nothing while another transaction does it.';
revoke execute on function private.merge_data_versions() from public;

create function private.change_data_version(project_ids bigint[]) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  gathered constant integer := 200; -- rows that every reader adds up
begin
  -- One change of a project is as good as many: nobody sees a part of a transaction.
  insert into private.data_version_changes (project_id)
  select distinct p.project_id from unnest(project_ids) as p(project_id) where p.project_id is not null
  on conflict (project_id, transaction_id, started_at) do nothing;
  if found and (select count(*) from (select 1 from private.data_version_changes c limit gathered + 1) c) > gathered then
    perform private.merge_data_versions();
  end if;
end
$$;
comment on function private.change_data_version(bigint[]) is 'Moves the version of these projects, 0 that of all, when the transaction commits.';
revoke execute on function private.change_data_version(bigint[]) from public;

-- A user's memberships count as a project of theirs. Where two users have the same number, each moves the other's version too.
create function private.membership_version(user_id uuid) returns bigint
language sql immutable security invoker set search_path = ''
as $$
  select -2 - (hashtextextended(membership_version.user_id::text, 0) & 4611686018427387903)
$$;
comment on function private.membership_version(uuid) is 'The number that stands for a user''s memberships among those of projects.';
revoke execute on function private.membership_version(uuid) from public;

-- Of what whoever asks may see, with what that is: another set of projects is another version, and what one may not see moves
-- nothing. That a membership came and went moves it as well: what was made meanwhile, under a version from before, shows more. "Security definer", because the versions are nobody's to read.
create function private.read_data_version(project_filter bigint) returns text
language plpgsql stable security definer set search_path = ''
as $$
declare
  visible constant bigint[] := private.visible_projects();
  memberships bigint; -- null where nothing depends on them
begin
  if visible is not null then
    memberships := private.membership_version(auth.uid());
  end if;
  -- The functions that search are part of what a result is made of.
  return (select concat(count(*), '-', max(m.version)) from private.migrations m) || '-'
    || coalesce((
      select sum(v.total) from (
        select d.project_id, d.total from private.data_versions d
        union all
        select c.project_id, c.change from private.data_version_changes c
      ) v
      where case
        when v.project_id < -1 then v.project_id = memberships
        else (read_data_version.project_filter is null or v.project_id in (0, read_data_version.project_filter))
          and (visible is null or v.project_id = 0 or v.project_id = any (visible) or v.project_id = -1 and visible <> '{}') end), 0)
    || coalesce('-' || hashtextextended(visible::text, 0), '');
end
$$;
comment on function private.read_data_version(bigint) is 'data_version, for what whoever asks may see.';
revoke execute on function private.read_data_version(bigint) from public;
grant execute on function private.read_data_version(bigint) to authenticated, service_role;

create function public.data_version(project_filter bigint default null) returns text
language sql stable security invoker set search_path = ''
as $$
  select private.read_data_version(data_version.project_filter)
$$;
comment on function public.data_version(bigint) is
  'The state of everything that a search can find, or of one project alone: two are equal only where the same committed changes are in, and whoever asks may see the same projects. Words weigh by how rare they are in all projects, so what ranks by words depends on the version of everything; of what one may not see, which moves nothing, the weights may lag.';
revoke execute on function public.data_version(bigint) from public, anon, authenticated;
grant execute on function public.data_version(bigint) to authenticated, service_role;

insert into private.migrations (version) values ('20260101002100');
