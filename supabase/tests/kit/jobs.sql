-- Jobs with the ids of what they embed, and the source of a ticket, project, comment or document.

create temporary view job as
select j.*, s.project_id, s.ticket_id, s.comment_id, s.document_id from tasklens.embedding_jobs j left join tasklens.sources s using (source_id);
grant select on job to PUBLIC;
create function pg_temp.source(ticket bigint default null, project bigint default null, comment bigint default null, document uuid default null) returns bigint
language sql as $$
  select s.source_id from tasklens.sources s
  where s.ticket_id = ticket or s.project_id = project or s.comment_id = comment or s.document_id = document
$$;
