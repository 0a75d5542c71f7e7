-- A row for each ticket that was compared; new tickets without one are due. See docs/duplicates.md.
create table ticket_flags (
  ticket_id bigint primary key references tickets on delete cascade,
  duplicate_of bigint references tickets on delete cascade, -- null: none found
  duplicate_score double precision,
  checked_at timestamptz not null default now()
);
create index on ticket_flags (duplicate_of);

-- Users who see both tickets see the flag.
alter table ticket_flags enable row level security;
grant select on ticket_flags to authenticated;
grant select, insert on ticket_flags to service_role;
create policy read_flags on ticket_flags for select to authenticated using (
  exists (select from tickets t where t.ticket_id = ticket_flags.ticket_id)
  and exists (select from tickets t where t.ticket_id = ticket_flags.duplicate_of));

create function list_unchecked_tickets() returns table (ticket_id bigint)
language sql stable security invoker set search_path = ''
as $$
  select t.ticket_id from public.tickets t
  where t.created_at > now() - interval '1 day' and not exists (select from public.ticket_flags f where f.ticket_id = t.ticket_id)
  order by t.ticket_id limit 20
$$;
create function store_ticket_flags(flags jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into public.ticket_flags (ticket_id, duplicate_of, duplicate_score)
  select f.ticket_id, f.duplicate_of, f.duplicate_score
  from jsonb_to_recordset(flags) as f(ticket_id bigint, duplicate_of bigint, duplicate_score double precision)
  on conflict do nothing
$$;
revoke execute on function list_unchecked_tickets(), store_ticket_flags(jsonb) from public, anon, authenticated;
grant execute on function list_unchecked_tickets(), store_ticket_flags(jsonb) to service_role;
