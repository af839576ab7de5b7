import { refusal } from '../../kernel/errors.ts';
import { sha256Hex } from '../../kernel/hash.ts';

/**
 * Between validating a flow and writing it nothing may change. Validation authorises one exact text; a write asks for
 * the text that it is about to send, and takes the authorisation back once it is sent.
 */
export interface WriteGuard {
  /** Remembers the text that was validated; returns its SHA-256. */
  authorise(text: string): string;
  /** Throws payload_mismatch unless exactly this text was authorised last. */
  check(text: string): void;
  revoke(): void;
}

export function createWriteGuard(): WriteGuard {
  let authorised: string | null = null;
  return {
    authorise(text) {
      authorised = sha256Hex(text);
      return authorised;
    },
    check(text) {
      const payload_hash = sha256Hex(text);
      if (authorised === payload_hash) return;
      const reason = authorised === null ? 'No flow was validated' : 'This is not the flow that was validated';
      throw refusal('payload_mismatch', `${reason}, so nothing was written. Compile again and apply that.`, {
        authorised_hash: authorised,
        payload_hash,
      });
    },
    revoke() {
      authorised = null;
    },
  };
}
