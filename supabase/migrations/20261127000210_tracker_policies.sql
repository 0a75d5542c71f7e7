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
      and a.attidentity = '' and a.attgenerated = '' and a.attname <> 'key' and a.atttypid <> 'timestamptz'::regtype);
end
$$;
grant select, insert (ticket_id, author, body), update (author, body), delete on public.comments to authenticated;
grant select, insert (ticket_id, kind, other_ticket_id), delete on public.ticket_links to authenticated;
grant select, insert (ticket_id, status_id, note), update (ticket_id, status_id, note), delete on public.status_changes to authenticated;
grant select on public.status to authenticated;

-- Status names reveal nothing about a project.
create policy read_statuses on public.status for select to authenticated
  using ((select auth.uid()) is not null);

-- Notes, comments and links have no project of their own. The subqueries see only tickets that
-- their policy shows.
do $$
declare
  p record;
  visible constant text := 'project_id = any ((select tasklens.projects_as(''viewer''))::bigint[])';
  writable constant text := 'project_id = any ((select tasklens.projects_as(''member''))::bigint[])';
  of_visible constant text := 'exists (select from public.tickets t where t.ticket_id = %1$s.ticket_id)';
  of_writable constant text := 'exists (select from public.tickets t where t.ticket_id = %1$s.ticket_id and t.' || writable || ')';
  other_visible constant text := ' and exists (select from public.tickets t where t.ticket_id = %1$s.other_ticket_id)';
begin
  for p in
    select w.on_table, c.command, format(case c.command when 'select' then w.readable else w.writable end, w.on_table) as condition
    from (values
      -- A new project has no admin yet, so the service creates it with its first member.
      ('projects', '{select,update,delete}', visible, 'project_id = any ((select tasklens.projects_as(''admin''))::bigint[])'),
      -- A ticket can only move between projects that the user may write.
      ('tickets', '{select,insert,update,delete}', visible, writable),
      ('status_changes', '{select,insert,update,delete}', of_visible, of_writable),
      ('comments', '{select,insert,update,delete}', of_visible, of_writable),
      -- Users see a link if they see both tickets, and may write it if they may also write in the
      -- first ticket's project.
      ('ticket_links', '{select,insert,delete}', of_visible || other_visible, of_writable || other_visible)
    ) as w (on_table, commands, readable, writable)
    cross join unnest(w.commands::text[]) as c(command)
  loop
    execute format('create policy %1$s_%2$s on public.%2$s for %1$s to authenticated', p.command, p.on_table) || case p.command
      when 'insert' then format(' with check (%s)', p.condition)
      when 'update' then format(' using (%1$s) with check (%1$s)', p.condition)
      else format(' using (%s)', p.condition) end;
  end loop;
end
$$;

insert into tasklens.migrations (version) values ('20261127000210');
