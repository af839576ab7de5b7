import { refusal } from '../../kernel/errors.ts';
import { hideUrlPassword } from '../../kernel/secrets.ts';
import { ADDRESS_RULE, readAddress, type ServerAddress } from '../client/address.ts';
import { API_KEY_RE, type FlowiseAuth } from '../client/authentication.ts';
import type { ServerRecord } from './server.ts';

/** A server with what it takes to ask it. */
export interface KnownServer {
  name: string;
  /** Without anything secret. */
  url: string;
  auth: FlowiseAuth['kind'];
  origin: ServerRecord['origin'];
  /** Marked by whoever added it. */
  isMarked: boolean;
  /** Opens what is sealed; not asked for by a list. */
  secret(): FlowiseAuth;
}

/** Flowise takes one of them, and dropping the other without a word would hide which. */
export const TWO_WAYS =
  'the address holds a user name: take it out of the address, or leave out the API key and the other user name';

/** What says who asks, wherever it was written. */
export interface GivenAuth {
  url: string;
  api_key?: string | null | undefined;
  username?: string | undefined;
  password?: string | undefined;
}

/** A key, a name with a password, or both of these in the address; not two of them. A text says what is wrong. */
export function readAuth(given: GivenAuth): { address: ServerAddress; auth: FlowiseAuth } | string {
  const address = readAddress(given.url);
  if (!address) return `the address ${ADDRESS_RULE}`;
  const key = given.api_key?.trim();
  if (address.username !== undefined && (key || given.username)) return TWO_WAYS;
  if (key) {
    return API_KEY_RE.test(key)
      ? { address, auth: { kind: 'key', key } }
      : 'the API key has characters that no key has';
  }
  const username = given.username || address.username;
  if (!username) return { address, auth: { kind: 'none' } };
  if (username.includes(':')) return 'the user name must not hold a colon';
  const password = given.username ? (given.password ?? '') : (address.password ?? '');
  return { address, auth: { kind: 'basic', username, password } };
}

/** A server of config.yaml or the environment. What is wrong with it is told when it is asked, not when it is listed. */
export function configuredServer(name: string, given: GivenAuth, origin: 'config' | 'environment'): KnownServer {
  const read = readAuth(given);
  const isSound = typeof read !== 'string';
  return {
    name,
    url: isSound ? read.address.url : hideUrlPassword(given.url),
    auth: isSound ? read.auth.kind : 'none',
    origin,
    isMarked: false,
    secret: () => {
      if (isSound) return read.auth;
      throw refusal(
        'CONFIG_INVALID',
        `Flowise server ${name} is not set up properly: ${read}. Mend it in the ${origin}.`,
      );
    },
  };
}
