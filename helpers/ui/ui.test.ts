import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { findBrowser, openBrowser } from './browser.ts';
import { startVitestUi } from './vitest-ui.ts';

const LESSON = "Lesson 5: the load balancer's role";
const WITH_FIGURE = 'k2 dies: who looks answers 300 of 300, who does not loses 100';
/** A test of exercise 5.1, and how the first hint of that exercise begins. */
const GRADED = 'three replicas carry the peak, and four carry it with one of them gone';
const HINT = 'Which number would you tell the person who pays';

it('Vitest UI shows a lesson as a table of contents, with its figures and its hints', async ({
  skip,
}) => {
  const executable = findBrowser();
  if (!executable) {
    const reason = 'no Chromium found: install one, or name it in the environment as CHROMIUM';
    if (process.env.CI === 'true') throw new Error(reason);
    skip(reason);
    return;
  }
  await using ui = await startVitestUi('lessons/05');
  await using browser = await openBrowser(executable);
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(ui.url);

  const report = page.getByTestId('report');

  await choose(page, 'solutions');
  const top = async () => (await contents(page)).slice(0, 2);
  await expect
    .poll(top, { timeout: 30_000 })
    .toEqual(['lessons/05-load-balancer/load-balancer.spec.ts', LESSON]);

  await search(page, WITH_FIGURE);
  await row(page, WITH_FIGURE).click();
  const figure = report.getByRole('note').locator('img');
  await figure.waitFor();
  expect(await figure.getAttribute('src')).toMatch(/^data:image\/svg\+xml/);
  const width = await figure.evaluate(async (image: Picture) => {
    await image.decode(); // rejects if it is no picture
    return image.naturalWidth;
  });
  expect(width, 'pixels').toBe(600);

  await choose(page, 'exercises');
  await search(page, GRADED);
  await row(page, GRADED).click();
  await report.getByText('TODO 5.1 planCapacity').waitFor();
  await report.getByText(HINT).waitFor();
});

/** What the test needs of an HTMLImageElement. */
interface Picture {
  decode(): Promise<void>;
  readonly naturalWidth: number;
}

/** What the test needs of an HTMLElement. */
interface Row {
  readonly ariaLabel: string | null;
  getBoundingClientRect(): { readonly y: number };
}

/** Rows of the tree that are in view. The tree keeps those it has no use for above the page. */
function rows(page: Page): Locator {
  return page
    .locator('.vue-recycle-scroller__item-view:not([style*="-9999px"])')
    .getByTestId('explorer-item');
}

/** Titles of the rows in view, from top to bottom. */
async function contents(page: Page): Promise<string[]> {
  const found = await rows(page).evaluateAll((elements: Row[]) =>
    elements.map((row) => ({ title: row.ariaLabel ?? '', y: row.getBoundingClientRect().y })),
  );
  return found.sort((a, b) => a.y - b.y).map(({ title }) => title);
}

function row(page: Page, title: string): Locator {
  return rows(page).and(page.getByLabel(title, { exact: true }));
}

async function choose(page: Page, project: string): Promise<void> {
  await page.locator('#project-select').selectOption(project);
}

async function search(page: Page, title: string): Promise<void> {
  await page.getByPlaceholder('Search').fill(title);
}
