-- Policies of the tracker's tables. Searches do not rely on them: they determine what the caller
-- may see in advance (see search_scope), because filtering after an index scan loses results.

-- Users cannot set ids, keys or times. Keys are unique across projects: choosing one would reveal
-- whether it is taken, or take a key that another project would generate later.
grant select, update (name, description), delete on public.projects to authenticated;
grant select, delete on public.tickets to authenticated;
do $$
begin
  execute (
    select format('grant insert (%1$s), update (%1$s) on public.tickets to authenticated', string_agg(quote_ident(a.attname), ', '))
    from pg_catalog.pg_attribute a
    where a.attrelid = 'public.tickets'::regclass and a.attnum > 0 and not a.attisdropped
      and a.attidentity = '' and a.attname <> 'key' and a.atttypid <> 'timestamptz'::regtype);
end
$$;
grant select, insert (ticket_id, author, body), update (author, body), delete on public.comments to authenticated;
grant select, insert (ticket_id, kind, other_ticket_id), delete on public.ticket_links to authenticated;
grant select, insert (ticket_id, status_id, note), update (ticket_id, status_id, note), delete on public.status_changes to authenticated;
grant select on public.status to authenticated;

create policy read_projects on public.projects for select to authenticated
  using (project_id = any ((select private.projects_as('viewer'))::bigint[]));
-- A new project has no admin yet, so the service creates it with its first member.
create policy update_projects on public.projects for update to authenticated
  using (project_id = any ((select private.projects_as('admin'))::bigint[]))
  with check (project_id = any ((select private.projects_as('admin'))::bigint[]));
create policy delete_projects on public.projects for delete to authenticated
  using (project_id = any ((select private.projects_as('admin'))::bigint[]));

-- Status names reveal nothing about a project.
create policy read_statuses on public.status for select to authenticated
  using ((select auth.uid()) is not null);

create policy read_tickets on public.tickets for select to authenticated
  using (project_id = any ((select private.projects_as('viewer'))::bigint[]));
create policy insert_tickets on public.tickets for insert to authenticated
  with check (project_id = any ((select private.projects_as('member'))::bigint[]));
-- A ticket can only move between projects that the user may write.
create policy update_tickets on public.tickets for update to authenticated
  using (project_id = any ((select private.projects_as('member'))::bigint[]))
  with check (project_id = any ((select private.projects_as('member'))::bigint[]));
create policy delete_tickets on public.tickets for delete to authenticated
  using (project_id = any ((select private.projects_as('member'))::bigint[]));

-- A note has no project of its own. The subquery sees only tickets that their policy shows.
create policy read_notes on public.status_changes for select to authenticated
  using (exists (select from public.tickets t where t.ticket_id = status_changes.ticket_id));
create policy insert_notes on public.status_changes for insert to authenticated
  with check (exists (
    select from public.tickets t
    where t.ticket_id = status_changes.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[])));
create policy update_notes on public.status_changes for update to authenticated
  using (exists (
    select from public.tickets t
    where t.ticket_id = status_changes.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[])))
  with check (exists (
    select from public.tickets t
    where t.ticket_id = status_changes.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[])));
create policy delete_notes on public.status_changes for delete to authenticated
  using (exists (
    select from public.tickets t
    where t.ticket_id = status_changes.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[])));

-- Comments follow their ticket, like notes.
create policy read_comments on public.comments for select to authenticated
  using (exists (select from public.tickets t where t.ticket_id = comments.ticket_id));
create policy insert_comments on public.comments for insert to authenticated
  with check (exists (
    select from public.tickets t
    where t.ticket_id = comments.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[])));
create policy update_comments on public.comments for update to authenticated
  using (exists (
    select from public.tickets t
    where t.ticket_id = comments.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[])))
  with check (exists (
    select from public.tickets t
    where t.ticket_id = comments.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[])));
create policy delete_comments on public.comments for delete to authenticated
  using (exists (
    select from public.tickets t
    where t.ticket_id = comments.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[])));

-- A link is visible to users who see both tickets, and writable for those who may write in the
-- first ticket's project.
create policy read_links on public.ticket_links for select to authenticated
  using (exists (select from public.tickets t where t.ticket_id = ticket_links.ticket_id)
    and exists (select from public.tickets t where t.ticket_id = ticket_links.other_ticket_id));
create policy insert_links on public.ticket_links for insert to authenticated
  with check (exists (
      select from public.tickets t
      where t.ticket_id = ticket_links.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[]))
    and exists (select from public.tickets t where t.ticket_id = ticket_links.other_ticket_id));
create policy delete_links on public.ticket_links for delete to authenticated
  using (exists (
      select from public.tickets t
      where t.ticket_id = ticket_links.ticket_id and t.project_id = any ((select private.projects_as('member'))::bigint[]))
    and exists (select from public.tickets t where t.ticket_id = ticket_links.other_ticket_id));

insert into private.migrations (version) values ('20260101000210');
