// Waits for a Flowise 3 server, makes its first account (or signs in) and prints a new API key that may do everything
// a key may.
//   node scripts/flowise/bootstrap.mjs URL
import { fileURLToPath } from 'node:url';

export const ACCOUNT = { name: 'Admin', email: 'admin@example.com', password: 'Test1234!' };
const START_MS = 120_000;
const POLL_MS = 250;

export async function bootstrap(url) {
  await answering(url);
  // Refused where the account exists already.
  await post(url, '/account/register', {
    user: { name: ACCOUNT.name, email: ACCOUNT.email, credential: ACCOUNT.password },
  });
  return createKey(url);
}

/** A key with these permissions; with every one that a key can have when none are named. */
export async function createKey(url, permissions) {
  const session = await signIn(url);
  const body = {
    keyName: `test-${process.pid}-${Date.now()}`,
    permissions: permissions ?? (await everyPermission(url, session)),
  };
  const keys = await (await post(url, '/apikey', body, session)).json();
  return keys[0].apiKey;
}

async function everyPermission(url, session) {
  const groups = await (await fetch(`${url}/api/v1/auth/permissions/API_KEY`, { headers: session })).json();
  return Object.values(groups)
    .flat()
    .filter(({ key, isOpenSource }) => isOpenSource && !/^(workspace|admin):/.test(key))
    .map(({ key }) => key);
}

/** Headers of a session; the cookies count only together with the last one. */
async function signIn(url) {
  const answer = await post(url, '/auth/login', { email: ACCOUNT.email, password: ACCOUNT.password });
  if (!answer.ok) throw new Error(`${url} does not let ${ACCOUNT.email} in: ${answer.status}`);
  const cookies = answer.headers.getSetCookie().map((each) => each.split(';')[0]);
  return { cookie: cookies.join('; '), 'x-request-from': 'internal' };
}

function post(url, path, body, headers = {}) {
  return fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function answering(url) {
  const until = Date.now() + START_MS;
  for (;;) {
    const pong = await fetch(`${url}/api/v1/ping`).then(
      (response) => response.text(),
      () => '',
    );
    if (pong === 'pong') return;
    if (Date.now() > until) throw new Error(`${url} did not answer within ${START_MS / 1_000} seconds`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const url = process.argv[2];
  if (!url) {
    console.error('usage: node scripts/flowise/bootstrap.mjs URL');
    process.exit(2);
  }
  console.log(await bootstrap(url));
}
