import * as z from 'zod';
import { refusal } from '../kernel/errors.ts';
import { MAX_PATH_BYTES, MAX_SEGMENT_BYTES, MAX_SEGMENTS } from './limits.ts';

export type PathVerdict = { ok: true } | { ok: false; reason: string };

/** Control characters, halves of characters, line separators, and what turns the direction of text around. */
const UNFIT = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const DRIVE = /^[A-Za-z]:/;
/** Devices of Windows, whatever follows the first dot. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)/i;
const SUFFIX = '.md';

/** Folders whose notes the server alone writes. */
const SERVER_FOLDERS = ['meta/flows/', 'approvals/'];

/**
 * Whether a text may name a note: relative to the vault, with forward slashes, the same file on every file system, and
 * nothing that leads out of the vault or into its hidden parts. The reason reads on from the place: "/path must …".
 */
export function checkNotePath(path: string): PathVerdict {
  const reason = folderFault(path) ?? (path.endsWith(SUFFIX) ? null : `must end with ${SUFFIX}`);
  return reason === null ? { ok: true } : { ok: false, reason };
}

/** What is wrong with a path whose last part may be a folder; null when nothing is. */
export function folderFault(path: string): string | null {
  if (path === '') return 'must not be empty';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `must have at most ${MAX_PATH_BYTES} bytes`;
  if (UNFIT.test(path)) return 'must not hold control characters';
  if (path !== path.normalize('NFC')) return 'must be written in composed characters (Unicode NFC)';
  if (path.includes('\\')) return 'must separate folders with /, not with \\';
  if (path.startsWith('/')) return 'must be relative to the vault';
  if (DRIVE.test(path)) return 'must not begin with a drive letter';
  const segments = path.split('/');
  if (segments.length > MAX_SEGMENTS) return `must have at most ${MAX_SEGMENTS} parts`;
  for (const segment of segments) {
    const fault = segmentFault(segment);
    if (fault) return fault;
  }
  return null;
}

function segmentFault(segment: string): string | null {
  if (segment === '') return 'must not have an empty part between slashes';
  if (segment.startsWith('.')) return 'must not have a part that begins with a dot';
  if (/[. ]$/.test(segment)) return 'must not have a part that ends with a dot or a space';
  if (DEVICE.test(segment)) return 'must not have a part that names a device of Windows';
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) return `must have parts of at most ${MAX_SEGMENT_BYTES} bytes`;
  return null;
}

export const NotePath = z
  .string()
  .max(MAX_PATH_BYTES)
  .superRefine((path, context) => {
    const verdict = checkNotePath(path);
    if (!verdict.ok) context.addIssue({ code: 'custom', message: verdict.reason });
  })
  .describe('Path of the note in the vault, such as projects/plan.md');

/**
 * True for notes that the server writes from what it holds. Compared as the most forgiving file system would: some
 * take `Meta/ﬂows` and `meta/flows` for the same folder.
 */
export function isServerPath(path: string): boolean {
  const folded = foldCase(path);
  return SERVER_FOLDERS.some((folder) => folded.startsWith(folder));
}

/** Equal for names that some file system takes for one: case, compatible characters and invisible ones do not count. */
export function foldCase(name: string): string {
  return name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC');
}

/** For whoever wants to write a note: those of the server change when the flow behind them does. */
export function refuseServerPath(path: string): void {
  if (!isServerPath(path)) return;
  throw refusal(
    'FORBIDDEN',
    'Notes in meta/flows/ and approvals/ are written by the server; propose a change to the flow instead.',
  );
}
