// The API's document as a page: what it adds to Swagger UI.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { demo, finish, open, ruled, until } from './kit.mjs';

after(finish);

for (const theme of ['light', 'dark']) {
  test(`the API's page is accessible at every width, ${theme}`, async (t) => {
    for (const width of [390, 768, 1280]) {
      const page = await open(t, `${demo}/docs`, { theme, width, shift: 10 }); // Swagger UI draws twice
      const request = (id) => page.locator(`#operations-${id}`);
      await request('operations-me').waitFor();
      const [red, green, blue] = await page.evaluate(() => getComputedStyle(document.querySelector('h1')).color.match(/\d+/g).map(Number));
      assert.equal(red + green + blue > 400, theme === 'dark', `${red} ${green} ${blue}`);
      await ruled(page);
      if (width === 390) {
        for (const id of ['search-getTicket', 'knowledge-rateDocument']) {
          await request(id).locator('.opblock-summary-control').press('Enter');
          await request(id).getByRole('button', { name: 'Try it out' }).click();
          await request(id).getByRole('button', { name: 'Execute' }).waitFor();
        }
        await request('search-getTicket').locator('input').first().fill('TX-400');
        await request('search-getTicket').getByRole('button', { name: 'Execute' }).click();
        await request('search-getTicket').locator('.live-responses-table').getByText('Customer charged twice').first().waitFor();
        await ruled(page);
        await request('search-getTicket').locator('.opblock-summary-control').press('Enter');
        await request('knowledge-rateDocument').locator('.opblock-summary-control').press('Enter');
      }
      await page.getByRole('button', { name: 'Authorize' }).click();
      await page.getByRole('dialog').waitFor();
      await until('it has faded in', () => page.evaluate(() => document.getAnimations().every((one) => one.playState === 'finished')));
      await ruled(page);
      await page.close();
    }
  });
}

test('the page of the API leads back to the console', async (t) => {
  const page = await open(t, demo);
  await page.getByRole('link', { name: 'API' }).click();
  await page.locator('.opblock').first().waitFor();
  await page.getByRole('link', { name: 'Back to the console' }).press('Enter');
  await page.locator('#query').waitFor();
});
