// The Edge Function flag-duplicates. See docs/duplicates.md.
const env = (name) => Deno.env.get(name);

async function ask(method, url, key, body) {
  const response = await fetch(url, {
    method,
    headers: { "Content-Type": "application/json", apikey: key, Authorization: `Bearer ${key}` },
    body: body && JSON.stringify(body),
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
  const database = (name, body) =>
    ask("POST", `${env("SUPABASE_URL")}/rest/v1/rpc/${name}`, env("SUPABASE_SERVICE_ROLE_KEY"), body);
  const tickets = await database("list_unchecked_tickets", {});
  if (tickets.length === 0) return Response.json({ checked: 0, flagged: 0 });

  const flags = [];
  let failure; // of the last ticket that could not be compared and stays unchecked
  for (const { ticket_id } of tickets) {
    try {
      // TASKLENS_TOKEN: the secret key, or another token that sees all tickets.
      const url = `${env("TASKLENS_URL")}/api/tickets/${ticket_id}/similar?limit=5`;
      const { results } = await ask("GET", url, env("TASKLENS_TOKEN"));
      const found = results.find((r) => r.likely_duplicate && r.ticket_id < ticket_id);
      flags.push({ ticket_id, duplicate_of: found?.ticket_id ?? null, duplicate_score: found?.duplicate_score ?? null });
    } catch (error) {
      failure = error;
    }
  }
  if (flags.length === 0) throw failure;
  await database("store_ticket_flags", { flags });
  return Response.json({ checked: flags.length, flagged: flags.filter((flag) => flag.duplicate_of).length });
});
