import type { Database, Queries, Trx } from '../database/index.ts';
import { refusal } from '../kernel/errors.ts';
import type { Ready } from '../kernel/ready.ts';
import type { CurrentFile, Files } from './files.ts';
import { MAX_FOLDERS_PER_PAGE } from './limits.ts';
import { checkNotePath, isServerPath } from './note-path.ts';
import { ABSENT_NOTE_STATE_ID, noteStateId } from './note-state-id.ts';
import { type NoteContent, noteText, parseNote } from './note-text.ts';
import { type NoteEntry, walkNotes } from './note-walk.ts';

/** What is at a path. For a note that is not there: no text, no values, and the token that says so. */
export interface NoteState extends NoteContent {
  state_id: string;
  /** Of the file's bytes; null when there is no note. The token beside it is easy to forge, this is not. */
  text_sha256: string | null;
}

export interface Note extends NoteState {
  path: string;
  text_sha256: string;
}

export interface ListOptions {
  /** A folder, without slashes at its ends. */
  prefix?: string | undefined;
  after?: string | undefined;
  limit: number;
  /** Asked for what the server wrote; what it denies is passed over as if it were not there. */
  mayRead?(path: string): Ready<boolean>;
}

export interface NotePage {
  notes: NoteEntry[];
  /** Pass as `after` for the next page; null at the end. */
  next: string | null;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The notes of vaults: files on disk, behind the changes that the database has committed. */
export class Notes {
  readonly #database: Database;
  readonly #files: Files;

  constructor(needs: { database: Database; files: Files }) {
    this.#database = needs.database;
    this.#files = needs.files;
  }

  /** The note; null when there is none. Not to be called inside a transaction: use `state` there. */
  async read(vaultId: string, path: string): Promise<Note | null> {
    await this.#files.catchUp(placeOf(vaultId));
    const { text_sha256, ...state } = await this.state(this.#database.queries, vaultId, path);
    return text_sha256 === null ? null : { path, ...state, text_sha256 };
  }

  /** As committed, also where the file is still to be written. For a decision, take the turn of the place before. */
  async state(queries: Queries, vaultId: string, path: string): Promise<NoteState> {
    assertNotePath(path);
    const file = await this.#files.current(queries, placeOf(vaultId), path);
    return file ? stateOf(path, file) : absent();
  }

  /** One page in the order of paths. Bounded: a page that met many folders without notes may be short and go on. */
  async list(vaultId: string, options: ListOptions): Promise<NotePage> {
    await this.#files.catchUp(placeOf(vaultId));
    const { prefix = '', after = '', limit } = options;
    const notes: NoteEntry[] = [];
    let folders = 0;
    for (const step of walkNotes(this.#files.rootOf(placeOf(vaultId)), prefix, after)) {
      if ('folder' in step) {
        folders += 1;
        // Never inside the server's folders: the cursor would name what the reader may not know of.
        if (folders > MAX_FOLDERS_PER_PAGE && !isServerPath(step.folder)) return { notes, next: step.folder };
        continue;
      }
      const { path } = step.note;
      if (isServerPath(path) && options.mayRead && !(await options.mayRead(path))) continue;
      if (notes.length === limit) return { notes, next: notes.at(-1)?.path ?? null };
      notes.push(step.note);
    }
    return { notes, next: null };
  }

  /**
   * Plans the note's file in the caller's transaction and returns the state id it will have. `basis` is what the
   * decision rests on; a file that holds anything else when it is written is kept aside.
   */
  async planPut(
    trx: Trx,
    vaultId: string,
    path: string,
    content: NoteContent,
    basis?: Pick<NoteState, 'text_sha256'>,
  ): Promise<string> {
    assertNotePath(path);
    const before = basis ? { before_sha256: basis.text_sha256 } : {};
    await this.#files.plan(trx, { place: placeOf(vaultId), path, text: noteText(content), ...before });
    return noteStateId({ frontmatter: content.frontmatter, body: content.body.trimEnd() });
  }
}

/** Where the notes of a vault are, as the list of planned writes names it. */
export function placeOf(vaultId: string): string {
  return `vault:${vaultId}`;
}

function absent(): NoteState {
  return { state_id: ABSENT_NOTE_STATE_ID, text_sha256: null, frontmatter: {}, body: '' };
}

function stateOf(path: string, { bytes, sha256 }: CurrentFile): NoteState {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    throw unreadable(path, 'it is not UTF-8 text');
  }
  const { damaged, ...content } = parseNote(text);
  if (damaged) throw unreadable(path, damaged);
  return { state_id: noteStateId(content), text_sha256: sha256, ...content };
}

function unreadable(path: string, reason: string) {
  return refusal('NOTE_UNREADABLE', `The note ${path} cannot be read: ${reason}. Mend the file on disk.`);
}

/** Every door checks its input; this is for the callers inside. */
function assertNotePath(path: string): void {
  const verdict = checkNotePath(path);
  if (!verdict.ok) throw refusal('BAD_REQUEST', `The path of a note ${verdict.reason}.`);
}
