import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { flowrightJson, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, tokenFor } from './people.ts';
import { ask, expectRefusal, type Reply } from './rest.ts';

let store: TestStore;
let hub: Hub;
let options: ProgramOptions;

beforeAll(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home };
  hub = await startHub(options);
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

const open = (link: string, headers: Record<string, string> = {}) => {
  const { pathname, search } = new URL(link);
  return ask(hub, pathname + search, { headers });
};
const newLink = async () => (await flowrightJson<{ link: string }>(['signin'], options)).link;
const cookieOf = (reply: Reply) => reply.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
const withCookie = (cookie: string, path = '/api/v1/whoami') => ask(hub, path, { headers: { cookie } });

describe('[FLR-signin-once] a sign-in link', () => {
  it('works once and gives a cookie that scripts and other sites cannot use', async () => {
    const first = await open(hub.signinLink);
    expect(first.status).toBe(303);
    expect(first.headers.location).toBe('/');
    expect(first.headers['cache-control']).toBe('no-store');
    expect(first.headers['set-cookie']).toHaveLength(1);
    const attributes = (first.headers['set-cookie']?.[0] ?? '').split('; ').slice(1);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Lax', 'Path=/']));
    expect(attributes.some((attribute) => attribute.startsWith('Domain'))).toBe(false);

    const flows = await withCookie(cookieOf(first), '/api/v1/flows');
    expect(flows.status).toBe(200);
    expect(flows.body.flows).toHaveLength(6);

    const second = await open(hub.signinLink);
    expect(second.status).toBe(401);
    expect(second.headers['set-cookie']).toBeUndefined();
    expect(second.headers['content-type']).toMatch(/^text\/html/);
    expect(second.text).toContain('flowright signin');
  });

  it('opened twice at the same moment lets one in', async () => {
    const link = await newLink();
    const replies = await Promise.all(Array.from({ length: 5 }, () => open(link)));
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401, 401]);
  });

  it('is printed anew by `flowright signin` and works on the running hub', async () => {
    const link = (await must(['signin'], options)).trim();
    expect(link).toMatch(new RegExp(`^${hub.url}/signin\\?code=flwc_[A-Za-z0-9_-]{43}$`));
    expect(link).not.toBe(hub.signinLink);
    const { body } = await withCookie(cookieOf(await open(link)));
    expect(body).toMatchObject({ user_id: 'local', kind: 'user', vault_id: 'default', role: 'admin' });
  });

  it.each(['', '?code=', '?code=flwc_nonsense', '?code=a&code=b', `?code=flwc_${'x'.repeat(5_000)}`, '?code[]=x'])(
    'that was never issued is a page with 401: %s',
    async (search) => {
      const reply = await ask(hub, `/signin${search}`);
      expect(reply.status).toBe(401);
      expect(reply.headers['set-cookie']).toBeUndefined();
    },
  );

  it('is not spent by a request from another site', async () => {
    const link = await newLink();
    expectRefusal(await open(link, { origin: 'http://evil.example' }), 403, 'ORIGIN_NOT_ALLOWED');
    expectRefusal(await open(link, { host: 'evil.example' }), 403, 'HOST_NOT_ALLOWED');
    expect((await open(link)).status).toBe(303);
  });
});

describe('[FLR-signin-once] the session', () => {
  it('shows the front page to its holder and nothing to others', async () => {
    const cookie = cookieOf(await open(await newLink()));
    const mine = await withCookie(cookie, '/');
    expect(mine.text).toContain('flow_overseer_handover');
    expect(mine.headers['cache-control']).toBe('no-store');
    for (const other of ['', 'flowright_session=', 'flowright_session=flws_wrong', `x${cookie}`]) {
      const page = await withCookie(other, '/');
      expect(page.status).toBe(200);
      expect(page.text).not.toContain('flow_');
    }
  });

  it('is not a bearer token, and a bearer token is not a session', async () => {
    const secret = cookieOf(await open(await newLink())).split('=')[1] ?? '';
    expectRefusal(await ask(hub, '/api/v1/whoami', { token: secret }), 401, 'UNAUTHORIZED');
    const bearer = await tokenFor(options, 'local');
    expectRefusal(await withCookie(`flowright_session=${bearer}`), 401, 'UNAUTHORIZED');
  });

  it('cannot be used by a page of another origin', async () => {
    const cookie = cookieOf(await open(await newLink()));
    const headers = { cookie, origin: 'http://localhost:3000', 'content-type': 'text/plain' };
    const reply = await ask(hub, '/api/v1/users', { method: 'POST', headers, raw: '{"user":"eve"}' });
    expectRefusal(reply, 403, 'ORIGIN_NOT_ALLOWED');
    const users = await withCookie(cookie, '/api/v1/users');
    expect(users.text).not.toContain('eve');
  });

  it('ends when its user is disabled', async () => {
    await must(['member', 'set', 'sid', '--role', 'admin'], options);
    const asSid = { ...options, env: { FLOWRIGHT_IDENTITY: 'sid' } };
    const cookie = cookieOf(await open((await flowrightJson<{ link: string }>(['signin'], asSid)).link));
    expect((await withCookie(cookie)).body).toMatchObject({ user_id: 'sid' });
    await must(['user', 'disable', 'sid', '--yes'], options);
    expect([401, 404]).toContain((await withCookie(cookie)).status);
    expect((await withCookie(cookie, '/')).text).not.toContain('flow_');
  });
});

it('[FLR-signin-once] [FLR-audit-chain] a sign-in and a refused sign-in stand in the audit log', async () => {
  const token = await tokenFor(options, 'local');
  const lines = async (chain: string, outcome: string) => {
    const { body } = await ask(hub, `/api/v1/audit?limit=200&chain=${chain}`, { token });
    const entries = body.entries as { action: string; outcome: string }[];
    return entries.filter((entry) => entry.action === 'signin' && entry.outcome === outcome).length;
  };
  const before = await lines('vault', 'done');
  const link = await newLink();
  await open(link);
  await open(link);
  expect(await lines('vault', 'done')).toBe(before + 1);
  // Refusals of one minute share a line, so that earlier ones of this file may already have written it.
  expect(await lines('hub', 'refused')).toBeGreaterThan(0);
});
