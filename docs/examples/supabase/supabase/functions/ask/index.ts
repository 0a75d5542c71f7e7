// Answers a question as the user who asks: passes their token and the question to the tasklens
// service, and its answer back as it arrives. It reads no key, so it has no rights of its own.

// By default a service on the machine that runs `supabase start`.
const service = Deno.env.get("TASKLENS_URL") ?? "http://host.docker.internal:8080";
const deadline = 60_000; // milliseconds for a whole answer; longer than REQUEST_TIMEOUT of the service, 30 s
const cors = {
  "Access-Control-Allow-Origin": "*", // no cookies: a page needs the user's token
  "Access-Control-Allow-Methods": "POST",
  "Access-Control-Allow-Headers": "authorization, apikey, content-type, x-client-info",
};

// A failure, in the service's own form (RFC 9457).
function problem(status: number, code: string, detail: string): Response {
  const headers = { ...cors, "Content-Type": "application/problem+json" };
  return new Response(JSON.stringify({ status, code, detail }), { status, headers });
}

Deno.serve(async (request) => {
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: cors });
  if (request.method !== "POST") return problem(405, "method_not_allowed", "Send the question with POST.");
  const token = request.headers.get("Authorization");
  if (!token?.startsWith("Bearer ")) return problem(401, "token_missing", "The request has no access token: sign in.");

  const time = AbortSignal.timeout(deadline);
  try {
    const answer = await fetch(new URL("/api/query", service), {
      method: "POST",
      headers: { "Authorization": token, "Content-Type": "application/json", "Accept": "text/event-stream" },
      body: await request.text(),
      redirect: "error", // or the token would follow
      signal: AbortSignal.any([time, request.signal]),
    });
    const headers = new Headers(cors);
    for (const name of ["Content-Type", "Retry-After", "X-Request-Id"]) {
      const value = answer.headers.get(name);
      if (value) headers.set(name, value);
    }
    return new Response(answer.body, { status: answer.status, headers });
  } catch (error) {
    if (time.aborted) return problem(504, "timeout", "The tasklens service did not answer in time.");
    console.error(`${service}:`, error); // for the log; users do not see the address
    return problem(502, "unavailable", "The tasklens service cannot be reached. Its address is the secret TASKLENS_URL.");
  }
});
