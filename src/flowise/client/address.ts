/** Where a Flowise server is; what was secret in the address stands apart. */
export interface ServerAddress {
  /** Scheme, host and the path below which Flowise lies, without /api/v1 and without a slash at the end. */
  url: string;
  origin: string;
  /** Empty or beginning with a slash. */
  basePath: string;
  username?: string;
  password?: string;
}

export const ADDRESS_RULE =
  'must be the http:// or https:// address of a Flowise server, such as http://127.0.0.1:3000, without ? and #';

/** The address of the server itself, or that of its API, with or without a slash at the end. Null when it is neither. */
export function readAddress(text: string): ServerAddress | null {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return null;
  }
  if (!/^https?:$/.test(url.protocol) || url.hostname === '' || url.search !== '' || url.hash !== '') return null;
  const basePath = withoutSlashes(withoutSlashes(url.pathname).replace(/\/api\/v1$/, ''));
  const username = decoded(url.username);
  const password = decoded(url.password);
  if (username === null || password === null) return null;
  return {
    url: url.origin + basePath,
    origin: url.origin,
    basePath,
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
  };
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
