// The Edge Function flag-duplicates. See docs/duplicates.md.
const env = (name) => Deno.env.get(name);

async function post(url, key, body) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", apikey: key, Authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${new URL(url).pathname}: status ${response.status}`);
  return text ? JSON.parse(text) : null;
}

Deno.serve(async (request) => {
  const secret = env("HOOK_SECRET");
  if (!secret || request.headers.get("Authorization") !== `Bearer ${secret}`) {
    return new Response("The secret is wrong.", { status: 403 });
  }
  const database = (name, body) => post(`${env("SUPABASE_URL")}/rest/v1/rpc/${name}`, env("SUPABASE_SERVICE_ROLE_KEY"), body);
  const tickets = await database("list_unchecked_tickets", {});
  if (tickets.length === 0) return Response.json({ checked: 0, flagged: 0 });

  // TASKLENS_TOKEN: the secret key, or another token that sees all tickets.
  const { items } = await post(`${env("TASKLENS_URL")}/api/tickets/similar/batch`, env("TASKLENS_TOKEN"), {
    items: tickets.map((ticket) => ({ ticket_key: ticket.ticket_key })),
    limit: 5,
  });
  const flags = tickets.flatMap(({ ticket_id }, i) => {
    if (items[i].error) return []; // it stays unchecked
    const found = items[i].results.find((r) => r.likely_duplicate && r.ticket_id < ticket_id);
    return { ticket_id, duplicate_of: found?.ticket_id ?? null, duplicate_score: found?.duplicate_score ?? null };
  });
  await database("store_ticket_flags", { flags });
  return Response.json({ checked: flags.length, flagged: flags.filter((flag) => flag.duplicate_of).length });
});
