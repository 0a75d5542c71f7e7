// A stand-in for the parts of Supabase Auth that the console uses: passwords, single-use refresh tokens,
// a provider's redirect with PKCE, and signing out. Tokens are signed with the secret that the service verifies.
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { atEnd, secret } from './kit.mjs';

const base64 = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export async function startAuth(users) {
  const auth = { lifetime: 3600, refuses: false, granted: 0, ended: 0, refreshed: 0 };
  const refreshes = new Map();
  const codes = new Map();
  auth.sign = (user, lifetime = auth.lifetime) => {
    const head = `${base64({ alg: 'HS256', typ: 'JWT' })}.${base64({ role: 'authenticated', aud: 'authenticated', sub: user.id, email: user.email, user_metadata: { full_name: user.name }, iss: `${auth.url}/auth/v1`, exp: Math.floor(Date.now() / 1000) + lifetime, session_id: randomUUID() })}`;
    return `${head}.${createHmac('sha256', secret()).update(head).digest('base64url')}`;
  };
  const grant = (user) => {
    const refresh_token = randomUUID();
    refreshes.set(refresh_token, user);
    auth.granted++;
    return { access_token: auth.sign(user), refresh_token, token_type: 'bearer', expires_in: auth.lifetime, user: { id: user.id, email: user.email, user_metadata: { full_name: user.name } } };
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, auth.url);
    const answer = (status, body) => response.writeHead(status, {
      'content-type': 'application/json', 'access-control-allow-origin': '*', 'access-control-allow-headers': 'apikey, authorization, content-type', 'access-control-allow-methods': 'GET, POST, OPTIONS',
    }).end(JSON.stringify(body));
    if (request.method === 'OPTIONS') return answer(200, {});
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length ? JSON.parse(Buffer.concat(chunks)) : {};
    if (url.pathname === '/auth/v1/authorize') {
      const code = randomUUID();
      codes.set(code, { user: users[0], challenge: url.searchParams.get('code_challenge') });
      const back = new URL(url.searchParams.get('redirect_to'));
      back.searchParams.set('code', code);
      return response.writeHead(302, { location: back.href }).end();
    }
    if (request.headers.apikey !== 'sb_publishable_check') return answer(401, { msg: 'No API key found in request' });
    switch (url.pathname + url.search) {
      case '/auth/v1/settings': return answer(200, { external: { email: true, phone: false, github: true, google: false }, disable_signup: true });
      case '/auth/v1/logout?scope=local': auth.ended++; return answer(200, {});
      case '/auth/v1/token?grant_type=password': {
        const user = users.find((u) => u.email === body.email && u.password === body.password);
        return user ? answer(200, grant(user)) : answer(400, { code: 400, error_code: 'invalid_credentials', msg: 'Invalid login credentials' });
      }
      case '/auth/v1/token?grant_type=refresh_token': {
        const user = refreshes.get(body.refresh_token);
        if (!user || auth.refuses) return answer(400, { code: 400, error_code: 'refresh_token_not_found', msg: 'Invalid Refresh Token' });
        refreshes.delete(body.refresh_token);
        auth.refreshed++;
        return answer(200, grant(user));
      }
      case '/auth/v1/token?grant_type=pkce': {
        const kept = codes.get(body.auth_code);
        codes.delete(body.auth_code);
        const fits = kept && createHash('sha256').update(body.code_verifier).digest('base64url') === kept.challenge;
        return fits ? answer(200, grant(kept.user)) : answer(400, { msg: 'code challenge does not match previously saved code verifier' });
      }
      default: return answer(404, { msg: 'not found' });
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => { server.closeAllConnections(); server.close(); });
  auth.url = `http://127.0.0.1:${server.address().port}`;
  return auth;
}
