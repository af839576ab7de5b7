import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../support/home.ts';
import { flowrightJson, type Hub, startHub } from '../support/program.ts';

const CHROMIUM = '/usr/bin/chromium';
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

describe.skipIf(!existsSync(CHROMIUM))(`in a browser (skipped where ${CHROMIUM} is missing)`, () => {
  const { folder: home, remove } = makeFolder();
  let hub: Hub;
  let browser: Browser;

  beforeAll(async () => {
    hub = await startHub({ home });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
  });
  afterAll(async () => {
    await browser?.close();
    await hub?.stop();
    remove();
  });

  const newLink = async () => (await flowrightJson<{ link: string }>(['signin'], { home })).link;

  /** A page of its own, with everything the browser complains about. */
  const open = async (): Promise<{ page: Page; context: BrowserContext; complaints: string[] }> => {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    return { page, context, complaints };
  };

  it('[FLR-signin-once] the link of the hub leads to the front page with the six flows', async () => {
    const { page, context, complaints } = await open();
    await page.goto(hub.signinLink);
    expect(page.url(), 'the code does not stay in the address').toBe(`${hub.url}/`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Flowright');
    expect(await page.getByText(/^Signed in as/).textContent()).toContain('local, admin of vault default');
    const rows = page.getByRole('table').locator('tbody tr');
    expect(await rows.count()).toBe(6);
    expect(await rows.filter({ hasText: 'flow_overseer_handover' }).textContent()).toContain('Overseer handover');
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ name: 'flowright_session', httpOnly: true, sameSite: 'Lax' });
    const picture = process.env.FLOWRIGHT_SCREENSHOT ?? join(home, 'front.png');
    await page.screenshot({ path: picture, fullPage: true });
    expect(statSync(picture).size).toBeGreaterThan(1_000);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('[FLR-signin-once] the session stays: coming back later needs no new link', async () => {
    const { page, context } = await open();
    await page.goto(await newLink());
    await page.goto(`${hub.url}/`);
    expect(await page.getByText(/^Signed in as/).count()).toBe(1);
    await context.close();
  });

  it('[FLR-signin-once] a link that somebody used shows why it does not work, and signs nobody in', async () => {
    const link = await newLink();
    const first = await open();
    await first.page.goto(link);
    expect(await first.page.getByText(/^Signed in as/).count()).toBe(1);
    const second = await open();
    const response = await second.page.goto(link);
    expect(response?.status()).toBe(401);
    expect(await second.page.getByRole('heading').textContent()).toBe('This link does not work any more');
    expect(await second.page.getByText('flowright signin').count()).toBe(1);
    expect(await second.context.cookies()).toEqual([]);
    for (const { context } of [first, second]) await context.close();
  });

  it('a visitor without a session sees no flow, only how to sign in', async () => {
    const { page, context, complaints } = await open();
    await page.goto(`${hub.url}/`);
    expect(await page.getByRole('heading').textContent()).toBe('Flowright is running');
    expect(await page.content()).not.toContain('flow_');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('fits a telephone without scrolling sideways', async () => {
    const { page, context } = await open();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(await newLink());
    // A string: the function runs in the browser, whose types this project does not have.
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    if (process.env.FLOWRIGHT_SCREENSHOT) {
      await page.screenshot({ path: `${process.env.FLOWRIGHT_SCREENSHOT}.phone.png`, fullPage: true });
    }
    expect(overflow).toBe(0);
    await context.close();
  });
});
