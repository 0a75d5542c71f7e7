// The page docs/examples/frontend/index.html in Chromium: from the origin that the service allows (PAGE_ORIGIN), and from one that it does not. PAGE_FOLDER is where the package is installed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const { SERVICE_URL, PAGE_ORIGIN, PAGE_FOLDER, CHROMIUM } = process.env;
const html = readFileSync(new URL('../../../docs/examples/frontend/index.html', import.meta.url), 'utf8');
const page = html.replace('http://127.0.0.1:8080', SERVICE_URL);
assert.notEqual(page, html);

// Serves the folder in which the package is installed.
const server = createServer((request, response) => {
  try {
    const body = request.url === '/' ? page : readFileSync(PAGE_FOLDER + request.url);
    response.setHeader('content-type', request.url === '/' ? 'text/html; charset=utf-8' : 'text/javascript');
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
});

let browser;
before(async () => {
  await new Promise((resolve) => server.listen(new URL(PAGE_ORIGIN).port, '127.0.0.1', resolve));
  browser = await chromium.launch({ executablePath: CHROMIUM, args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
});
after(async () => {
  await browser?.close();
  server.closeAllConnections();
  server.close();
});

async function ask(origin, question) {
  const tab = await browser.newPage();
  await tab.addInitScript(() => {
    window.pieces = 0; // that the answer grew by
    document.addEventListener('DOMContentLoaded', () => {
      new MutationObserver((records) => { window.pieces += records.filter((record) => record.addedNodes.length > 0).length; }).observe(document.querySelector('#answer'), { childList: true });
    });
  });
  await tab.goto(origin);
  await tab.fill('input', question);
  await tab.click('button');
  return tab;
}

test('a page of an allowed origin streams an answer with its sources', async () => {
  const tab = await ask(PAGE_ORIGIN, 'Why was a customer charged twice when a payment was retried?'); // not cached: it comes in pieces
  await tab.locator('#sources li', { hasText: 'TX-400' }).first().waitFor();
  await tab.locator('#answer', { hasText: /\[\d\]/ }).waitFor();
  await tab.waitForFunction(() => window.pieces > 1);
});

test('a page of an allowed origin can read a problem', async () => {
  const tab = await ask(PAGE_ORIGIN, '  ');
  await tab.locator('#answer', { hasText: 'invalid: The request is not valid.' }).waitFor();
});

test('a page of another origin learns nothing', async () => {
  const tab = await ask(PAGE_ORIGIN.replace('localhost', '127.0.0.1'), 'How was the double charge fixed?');
  await tab.locator('#answer', { hasText: 'TypeError: Failed to fetch' }).waitFor();
  assert.equal(await tab.locator('#sources li').count(), 0);
});
