-- Fills what rows lack: the category of a status, and keys: CAP for a project "Checkout and
-- Payments", CAP-401 for its next ticket.

-- Status names of common trackers. Unknown names count as to_do, because an unknown status must not
-- hide open tickets. The first match decides, so names that only sound done (Not Done, Ready to
-- Release) come before those that are.
create function tasklens.fill_status_category() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  -- Words, however they are written: code_review, CLOSED-DUPLICATE, InProgress.
  n constant text := lower(btrim(regexp_replace(regexp_replace(translate(new.name, '’‘ʼ´`', ''''''''''''), '([[:lower:][:digit:]])([[:upper:]])|([[:upper:]])([[:upper:]][[:lower:]])', '\1\3 \2\4', 'g'), '[\s_./:–-]+', ' ', 'g')));
begin
  new.category := coalesce(new.category, case
    when n ~ '\m(won''?t|will not|not (planned|doing|needed|applicable|reproducible|a bug|an issue)|can(not|''?t) reproduce|(as|by) design(ed)?)\M' then 'done'
    when n ~ '\m(re ?open(ed)?|(not|un) ?(yet )?(done|finished|closed|resolved|solved|fixed|completed?|started|released|deployed|merged|verified)|incomplete|to be done)\M' then 'to_do'
    when n ~ '^(waiting|awaiting|pending|to be)\M|\m(almost|nearly|partially|partly)\M|\mready (for|to) (code |peer )?(review|qa|test|testing|uat|verification|acceptance|approval|merge|staging|release|deploy|deployment|production|publish|ship|close)\M' then 'in_progress'
    when n ~ '\m(done|closed|resolved|completed?|fixed|released|shipped|deployed|live|in production|cancell?ed|rejected|declined|removed|abandoned|withdrawn|duplicate|obsolete|invalid|finished|solved|verified|merged|archived|erledigt|fertig|geschlossen)\M' then 'done'
    when n ~ '\m(backlog|triage|queue|(selected|ready|approved|planned|scheduled) (for|to))\M' then 'to_do'
    when n ~ '\m(in|under|waiting|awaiting|pending|blocked|on hold|paused|escalated|active|committed|doing|started|working|wip|ongoing|developing|development|building|implementing|implementation|fixing|investigating|test|testing|review|reviewing|verifying|verification|qa|uat|staging)\M' then 'in_progress'
    else 'to_do' end);
  return new;
end
$$;
comment on function tasklens.fill_status_category is 'Trigger: guesses the category of a status that has none from its name: done, in_progress or to_do.';

create trigger fill_category before insert or update on public.status
  for each row execute function tasklens.fill_status_category();

create table tasklens.ticket_counters (
  project_id bigint primary key references public.projects on delete cascade,
  last_number bigint not null
);
comment on table tasklens.ticket_counters is 'The last ticket number used in each project. A separate table, so that a new ticket does not update its project.';

-- The initials of the name (letters and digits, at most 5), else P, made unique by a number.
create function tasklens.fill_project_key() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  stem text;
  candidate text;
begin
  if nullif(btrim(new.key), '') is not null then
    return new;
  end if;
  -- Two concurrent projects with the same name would get the same key.
  perform pg_advisory_xact_lock(hashtext('tasklens.fill_project_key'));
  select nullif(left(regexp_replace(upper(string_agg(left(w.word, 1), '' order by w.place)), '[^A-Z0-9]', '', 'g'), 5), '') into stem
    from regexp_split_to_table(new.name, '[^[:alnum:]]+') with ordinality as w(word, place)
    where w.word <> '';
  stem := coalesce(stem, 'P');
  candidate := stem;
  for attempt in 2..1000 loop
    exit when not exists (select 1 from public.projects p where p.key = candidate);
    candidate := stem || attempt;
  end loop;
  -- After a thousand collisions use the id, which is certainly free.
  if exists (select 1 from public.projects p where p.key = candidate) then
    candidate := stem || 'P' || new.project_id;
  end if;
  new.key := candidate;
  return new;
end
$$;
comment on function tasklens.fill_project_key is 'Trigger: generates a missing project key from the name.';

-- The next number of the project. The counter starts after the highest number in use, and skips to
-- the end again if a key written by hand is taken.
create function tasklens.fill_ticket_key() returns trigger
-- A plan cached while the table was empty would scan all of it for every row of a bulk load. A scan
-- that cannot be avoided counts as so expensive that it would be compiled, which takes far longer.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off set enable_indexonlyscan = off
as $$
declare
  stem text;
  number bigint;
begin
  if nullif(btrim(new.key), '') is not null then
    return new;
  end if;
  select p.key into stem from public.projects p where p.project_id = new.project_id;
  if stem is null then
    if not tasklens.is_unrestricted() then
      return new; -- let the policy reject it, with the same error as for an existing project
    end if;
    -- Checked here, because the missing key would fail before the foreign key.
    raise exception using errcode = 'foreign_key_violation',
      message = format('There is no project %s to number a ticket in.', coalesce(new.project_id::text, 'null')),
      hint = 'Add the project first.';
  end if;
  update tasklens.ticket_counters c set last_number = c.last_number + 1
    where c.project_id = new.project_id
    returning c.last_number into number;
  if number is null or exists (select 1 from public.tickets t where upper(t.key) = upper(stem || '-' || number)) then
    select coalesce(max(substring(t.key from length(stem) + 2)::numeric), 0) + 1 into number
      from public.tickets t
      where upper(left(t.key, length(stem) + 1)) = upper(stem || '-')
        and substring(t.key from length(stem) + 2) ~ '^[0-9]{1,15}$';
    -- Another transaction may have created the counter meanwhile.
    insert into tasklens.ticket_counters as c (project_id, last_number) values (new.project_id, number)
      on conflict (project_id) do update set last_number = greatest(c.last_number + 1, excluded.last_number)
      returning c.last_number into number;
  end if;
  new.key := stem || '-' || number;
  return new;
end
$$;
comment on function tasklens.fill_ticket_key is 'Trigger: gives a ticket without a key the next key of its project.';

create trigger fill_key before insert on public.projects
  for each row execute function tasklens.fill_project_key();
create trigger fill_key before insert on public.tickets
  for each row execute function tasklens.fill_ticket_key();

insert into tasklens.migrations (version) values ('20261127000130');
