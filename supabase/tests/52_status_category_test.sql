-- Guessed categories: status names of Jira, GitHub, Linear and Azure, and misleading names.

begin;
select plan(4);

create function pg_temp.others(names text[], category text) returns setof text
language sql as $$
  with made as (
    insert into public.status (name) select n from unnest(names) n on conflict (lower(name)) do nothing returning name, status.category
  )
  select m.name || ': ' || m.category from made m where m.category <> others.category
$$;

select is_empty($$ select * from pg_temp.others(array[
  'Done', 'DONE', ' Done ', 'Closed', 'Resolved', 'Resolved - Fixed', 'Completed', 'Complete', 'Fixed in 2.0', 'Released', 'Deployed to production', 'In Production', 'Live',
  'Merged', 'Verified', 'Removed', 'Cancelled', 'Canceled', 'Duplicate', 'Rejected', 'Declined', 'Abandoned', 'Withdrawn', 'Archived', 'Obsolete',
  'Won''t Fix', 'Won’t Do', 'Will not fix', 'Not planned', 'Closed as not planned', 'Cannot Reproduce', 'Works as designed', 'Not a bug', 'Not doing',
  'Done (legacy)', 'Done ✅', 'Resolved (pending verification)', 'Auto-closed', 'Erledigt', 'Geschlossen',
  'wont_fix', 'WontFix', 'WONT_DO', 'Wonʼt do', 'CLOSED_DUPLICATE', 'closed.duplicate', 'ClosedAsDuplicate', 'not_a_bug', 'NOT-PLANNED', 'worksAsDesigned', '4_done', 'status/resolved'], 'done') $$, 'names guessed as done');
select is_empty($$ select * from pg_temp.others(array[
  'In Progress', 'In Review', 'In Development', 'In Arbeit', 'Code Review', 'Reviewing', 'Testing', 'QA', 'UAT', 'Doing', 'Started', 'Active', 'Committed',
  'Work in progress', 'Blocked', 'On Hold', 'Pending', 'Escalated', 'Under investigation', 'Investigating', 'Implementing',
  'Waiting for customer', 'Waiting for support', 'Awaiting Release', 'Waiting to be closed', 'To be verified', 'To be closed',
  'Ready for Review', 'Ready for QA', 'Ready for Test', 'Ready to merge', 'Ready for Release', 'Partially done', 'Almost done',
  'in_progress', 'IN_PROGRESS', 'InProgress', 'in-progress', 'code_review', 'CodeReview', 'QAReview', 'ready_for_qa', 'READY-TO-MERGE', 'on_hold', 'OnHold', 'waiting_for_customer', 'almost_done'], 'in_progress') $$, 'names guessed as in progress');
select is_empty($$ select * from pg_temp.others(array[
  'To Do', 'Todo', 'TODO', 'Open', 'New', 'Backlog', 'In Backlog', 'Triage', 'Needs Triage', 'Ready', 'Ready for Development', 'Ready for dev', 'Selected for Development',
  'Approved', 'Proposed', 'Assigned', 'Acknowledged', 'Deferred', 'Reopened', 'Re-opened', 'Not Started', 'Unstarted', 'To be done',
  'not_started', 'NotStarted', 're_opened', 'ReOpened', 'REOPENED', 'to_do', 'ToDo', 'not-yet-done', 'un-resolved', 'ready_for_dev', 'abandon_ship',
  'Not Done', 'Undone', 'Unresolved', 'Not resolved', 'Not yet done', 'Incomplete', 'Not fixed', 'Unreleased', 'Whatever', ' '], 'to_do') $$,
  'names guessed as to do, which includes unknown names, so that their tickets stay visible');

insert into public.status (name) values ('Waiting for spares');
insert into public.status (name, category) values ('Closed again', 'in_progress');
select results_eq($$ select category from public.status where name in ('Waiting for spares', 'Closed again') $$, array['in_progress', 'in_progress'], 'a status without a category gets the guessed one, and a given category is kept');

select * from finish();
rollback;
