// Shared by the console's tests: a browser whose pages must log no errors, extra services, and the stand-ins.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

export const root = new URL('../../', import.meta.url).pathname;
const local = process.env.TASKLENS_LOCAL;
export const demo = process.env.SERVICE_URL;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PATIENCE = Number(process.env.PATIENCE) || 60_000; // timeout of each wait, in milliseconds

let browser;
export async function launch() {
  const options = { executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [] };
  browser ??= await chromium.launch(options).catch(() => chromium.launch(options)); // Chromium itself may crash as it starts
  return browser;
}
export async function finish() {
  await browser?.close();
  for (const end of ends.reverse()) await end();
}
const ends = [];

/**
 * A page that is checked while it is used: no script's error, nothing that its policy forbids, no other origin asked, and
 * nothing that jumps. also: origins that may be asked too; failing: whether requests are meant to fail.
 */
export async function open(t, url, { width = 1280, height = 900, theme = 'light', also = [], failing = false, shift = 0.1, prepare, ...more } = {}) {
  const context = await (await launch()).newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'no-preference', ...more });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const origins = [new URL(url).origin, ...also];
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(`script: ${error.message}`));
  page.on('dialog', (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('console', (m) => {
    if (['error', 'warning'].includes(m.type()) && !(failing && m.text().startsWith('Failed to load resource'))) wrong.push(`console: ${m.text()}`);
  });
  page.on('response', (response) => { if (response.status() >= 400) t.diagnostic(`${response.status()} ${response.request().method()} ${response.url()}`); });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && !origins.includes(origin)) wrong.push(`another origin: ${request.url()}`);
  });
  await page.addInitScript(() => {
    window.seen = { violations: [], shift: 0, moved: [] };
    const session = { began: -Infinity, last: -Infinity, shift: 0 };
    document.addEventListener('securitypolicyviolation', (e) => window.seen.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.hadRecentInput) continue;
        // Cumulative Layout Shift: the greatest sum within five seconds without a pause of one.
        if (entry.startTime - session.last > 1000 || entry.startTime - session.began > 5000) Object.assign(session, { began: entry.startTime, shift: 0 });
        session.last = entry.startTime;
        session.shift += entry.value;
        window.seen.shift = Math.max(window.seen.shift, session.shift);
        window.seen.moved.push(...entry.sources.map((s) => `${s.node?.className || s.node?.nodeName} by ${entry.value.toFixed(3)}`));
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  page.check = async () => {
    const seen = await page.evaluate(() => window.seen);
    wrong.push(...seen.violations.map((v) => `policy: ${v}`));
    assert.ok(seen.shift <= shift, `the layout shifts by ${seen.shift} at ${page.url()}: ${seen.moved}`);
    assert.deepEqual(wrong, []);
  };
  t.after(async () => {
    try {
      if (!page.isClosed()) await page.check();
    } finally {
      await context.close();
    }
  });
  await prepare?.(page);
  await page.goto(url);
  return page;
}

/** No violation of the accessibility rules on what is shown now, and no id twice, which those accept. */
export async function accessible(page) {
  const ids = await page.locator('[id]').evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) !== i), []);
  await ruled(page);
}

/** No violation of the accessibility rules. */
export async function ruled(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html} ${n.failureSummary}`).join(' | ')}`), []);
}

/** Waits until a condition holds. */
export async function until(what, condition) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) assert.fail(`${what}: timed out after ${PATIENCE / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function post(base, path, body, headers = {}) {
  const response = await fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json().catch(() => null) };
}

export const sql = (text) => execFileSync(`${root}scripts/psql`, ['-qXAt', '-v', 'ON_ERROR_STOP=1', '-c', text], { encoding: 'utf8' });
export const secret = () => readFileSync(`${local}/jwt-secret`, 'utf8').trim();

/** The settings of the demo's service. */
export function settings() {
  const lines = readFileSync(`${local}/run/env`, 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => { const at = line.indexOf('='); return [line.slice(0, at), line.slice(at + 1).replace(/\\(.)/g, '$1')]; }));
}

export const freePort = () => new Promise((resolve, reject) => {
  const server = createServer();
  server.on('error', reject);
  server.listen(0, '127.0.0.1', () => { const { port } = server.address(); server.close(() => resolve(port)); });
});

/** Another service over the demo's database, with settings of its own. */
export async function service(more) {
  const port = await freePort();
  const child = spawn(`${local}/bin/server`, ['serve'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings(), SUPABASE_JWT_SECRET: secret(), SUPABASE_JWKS_URL: 'off', WORKER: 'off', QUERY_LOG_RETENTION: '0', PORT: String(port), ...more },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (text) => { log = (log + text).slice(-4000); });
  ends.push(() => new Promise((resolve) => { child.once('exit', resolve); child.kill(); }));
  const url = `http://127.0.0.1:${port}`;
  await until('a service starts', async () => {
    assert.equal(child.exitCode, null, log);
    return fetch(`${url}/healthz`).then((r) => r.ok, () => false);
  });
  return url;
}

export const atEnd = (end) => ends.push(end);
