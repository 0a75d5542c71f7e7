// Takes the README's screenshot of the console: a search, with its first result open.
import { statSync } from 'node:fs';
import { demo, finish, launch } from './kit.mjs';

const path = process.argv[2];
const page = await (await launch()).newPage({ viewport: { width: 1360, height: 770 }, deviceScaleFactor: 0.75, colorScheme: 'light' });
await page.goto(`${demo}/#search?q=resolve+login+issue`);
await page.locator('a.result').first().waitFor();
await page.locator('.badge.meaning').first().waitFor();
await page.locator('a.result').first().click();
await page.locator('.similar li').first().waitFor();
await page.screenshot({ path });
await finish();
const { size } = statSync(path);
if (size > 150_000) throw new Error(`${path} has ${size} bytes`);
console.log(`${path}: ${size} bytes`);
