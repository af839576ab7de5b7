import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ACCOUNT } from '../../scripts/flowise/bootstrap.mjs';
import type { Target } from './target.ts';

/** A browser that is on the machine; FLOWRIGHT_CHROMIUM names another one. */
export const CHROMIUM =
  [process.env.FLOWRIGHT_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    (program) => program && existsSync(program),
  ) ?? null;

export interface Drawn {
  nodes: number;
  edges: number;
  /** Pairs of nodes of which one hides a part of the other. */
  overlaps: string[];
  /** Sentences that Flowise's page shows about something that went wrong. */
  complaints: string[];
}

export interface FlowiseCanvas {
  /** Opens the chatflow and counts what is drawn. */
  look(chatflowId: string, screenshot?: string): Promise<Drawn>;
  close(): Promise<void>;
}

/** Flowise's own page, signed in as the account that the bootstrap made. */
export async function openCanvas({ url }: Target): Promise<FlowiseCanvas> {
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });
  const page = await signIn(browser, url);
  return {
    look: async (chatflowId, screenshot) => {
      const errors: string[] = [];
      const listen = (error: Error) => void errors.push(error.message);
      page.on('pageerror', listen);
      await page.goto(`${url}/canvas/${chatflowId}`);
      await page.locator('.react-flow__node').first().waitFor();
      const drawn = await settled(page);
      if (screenshot) await page.screenshot({ path: screenshot });
      page.off('pageerror', listen);
      const shown = await page.locator('.SnackbarItem-message, .notistack-MuiContent-error').allInnerTexts();
      return { ...drawn, overlaps: overlapsAmong(await boxes(page)), complaints: [...errors, ...shown] };
    },
    close: () => browser.close(),
  };
}

async function signIn(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.goto(`${url}/signin`);
  await page.locator('input[name="username"]').fill(ACCOUNT.email);
  await page.locator('input[type="password"]').fill(ACCOUNT.password);
  await page.locator('button[type="submit"]').click();
  await page.waitForURL((address) => !address.pathname.startsWith('/signin'));
  return page;
}

/** Edges are drawn after nodes were measured: the count stands once it is the same twice. */
async function settled(page: Page): Promise<{ nodes: number; edges: number }> {
  const count = async () => ({
    nodes: await page.locator('.react-flow__node').count(),
    edges: await page.locator('.react-flow__edge path.react-flow__edge-path').count(),
  });
  let before = await count();
  for (let tries = 0; tries < 40; tries += 1) {
    await page.waitForTimeout(250);
    const now = await count();
    if (tries > 2 && now.nodes === before.nodes && now.edges === before.edges) return now;
    before = now;
  }
  return before;
}

interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where nodes stand on the screen; all of them are scaled alike. */
async function boxes(page: Page): Promise<Box[]> {
  const found: Box[] = [];
  for (const node of await page.locator('.react-flow__node').all()) {
    const box = await node.boundingBox();
    if (box) found.push({ id: (await node.getAttribute('data-id')) ?? '', ...box });
  }
  return found;
}

function overlapsAmong(all: readonly Box[]): string[] {
  const hides = (a: Box, b: Box) =>
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  return all.flatMap((a, at) => all.slice(at + 1).flatMap((b) => (hides(a, b) ? [`${a.id} and ${b.id}`] : [])));
}
