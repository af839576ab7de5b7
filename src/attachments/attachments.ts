import { type Database, type Queries, type Trx, takeTurns } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { ERRORS, refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import type { Attachment } from './attachment.ts';
import type { AttachmentRecord } from './record.ts';
import { type Content, FileFault, hasStored, readStored, removeStored, writeStored } from './stored-file.ts';

/** A file that lies in the store already, or will when its row is written. */
export interface Upload {
  vault_id: string;
  file_name: string;
  content_type: string;
  sha256: string;
  bytes: Buffer;
}

const COLUMNS = ['id', 'file_name', 'content_type', 'size_bytes', 'sha256', 'created_by', 'created_at'] as const;

/**
 * Files of vaults, named by what they hold: two rows with the same content share one file.
 *
 * A file is on the disk before the row that names it is committed, and is removed only after the last such row is gone.
 * Both moments look again while no other transaction concerns the same content. So a crash can leave a file without a
 * row, which harms nobody, and never a row without its file.
 */
export class Attachments {
  readonly #database: Database;
  readonly #dir: string;
  readonly limitBytes: number;

  constructor(options: { database: Database; dir: string; limitBytes: number }) {
    this.#database = options.database;
    this.#dir = options.dir;
    this.limitBytes = options.limitBytes;
  }

  /** Stores the bytes, before any transaction. */
  async store(file: Omit<Upload, 'sha256'>): Promise<Upload> {
    const size = file.bytes.length;
    if (size > this.limitBytes) {
      throw refusal(
        'PAYLOAD_TOO_LARGE',
        `The file has ${size} bytes; at most ${this.limitBytes} are taken (setting attachment_limit_bytes). ${ERRORS.PAYLOAD_TOO_LARGE.next}`,
      );
    }
    const upload = { ...file, sha256: sha256Hex(file.bytes) };
    const { vault_id, sha256, bytes } = upload;
    // Read rather than looked at: an upload also puts right what somebody damaged on the disk.
    if (!(await this.#isSound(vault_id, { sha256, size_bytes: size }))) {
      await this.#storing(() => writeStored(this.#dir, vault_id, sha256, bytes));
    }
    return upload;
  }

  /** Writes the row of a stored file. */
  async add(trx: Trx, clock: Clock, upload: Upload & { created_by: string }): Promise<AttachmentRecord> {
    const { vault_id, file_name, content_type, sha256, bytes, created_by } = upload;
    await this.#takeTurns(trx, vault_id, sha256);
    // Whoever removed the last row with this content since `store` took the file with it. Rare, so it is written here.
    const content = { sha256, size_bytes: bytes.length };
    await this.#storing(async () => {
      if (!hasStored(this.#dir, vault_id, content)) await writeStored(this.#dir, vault_id, sha256, bytes);
    });
    return trx
      .insertInto('attachments')
      .values({
        vault_id,
        file_name,
        content_type,
        size_bytes: bytes.length,
        sha256,
        created_by,
        created_at: isoNow(clock),
      })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow();
  }

  find(queries: Queries, vaultId: string, id: number): Promise<AttachmentRecord | undefined> {
    return queries
      .selectFrom('attachments')
      .select(COLUMNS)
      .where('vault_id', '=', vaultId)
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Newest first. */
  async list(queries: Queries, vaultId: string, page: { limit: number; offset: number }) {
    const ours = queries.selectFrom('attachments').where('vault_id', '=', vaultId);
    const items = await ours.select(COLUMNS).orderBy('id', 'desc').limit(page.limit).offset(page.offset).execute();
    const { total } = await ours.select((row) => row.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    return { items, total: Number(total) };
  }

  /** Nodes of today's graphs to which the file is bound. */
  async nodesWith(queries: Queries, id: number): Promise<{ id: number; flowchart_id: number }[]> {
    return queries
      .selectFrom('flowchart_node_attachments as bound')
      .innerJoin('flowchart_nodes as node', 'node.id', 'bound.flowchart_node_id')
      .select(['node.id', 'node.flowchart_id'])
      .where('bound.attachment_id', '=', id)
      .where('node.removed_at', 'is', null)
      .orderBy('node.id')
      .execute();
  }

  /** What the attachment holds. The row decides where it lies; what the caller says of it must agree with the row. */
  async read(attachment: Attachment): Promise<Buffer> {
    const row = await this.#database.queries
      .selectFrom('attachments')
      .select(['vault_id', 'size_bytes', 'sha256'])
      .where('id', '=', attachment.id)
      .executeTakeFirst();
    if (!row || row.sha256 !== attachment.sha256 || row.size_bytes !== attachment.size_bytes) {
      throw refusal('NOT_FOUND', `There is no attachment ${attachment.id} with this content. ${ERRORS.NOT_FOUND.next}`);
    }
    try {
      return await readStored(this.#dir, row.vault_id, row);
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      throw refusal(
        'CONFLICT',
        `The file of attachment ${attachment.id} cannot be used: ${error.message}. Upload it again, or restore the folder attachments from a copy.`,
      );
    }
  }

  /** Removes the row, and what graphs of the past say about it. */
  async remove(trx: Trx, attachment: { id: number }): Promise<void> {
    await trx.deleteFrom('flowchart_node_attachments').where('attachment_id', '=', attachment.id).execute();
    await trx.deleteFrom('attachments').where('id', '=', attachment.id).execute();
  }

  /** Removes the file, once that is committed, unless another row names the same content. */
  async forget(vaultId: string, sha256: string): Promise<void> {
    await this.#database.transaction(async (trx) => {
      await this.#takeTurns(trx, vaultId, sha256);
      const other = await trx
        .selectFrom('attachments')
        .select('id')
        .where('vault_id', '=', vaultId)
        .where('sha256', '=', sha256)
        .limit(1)
        .executeTakeFirst();
      if (!other) await removeStored(this.#dir, vaultId, sha256);
    });
  }

  async #isSound(vaultId: string, content: Content): Promise<boolean> {
    try {
      await readStored(this.#dir, vaultId, content);
      return true;
    } catch (error) {
      if (error instanceof FileFault) return false;
      throw error;
    }
  }

  async #storing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      throw refusal(
        'CONFLICT',
        `The file cannot be stored: ${error.message}. Mend the folder attachments and try again.`,
      );
    }
  }

  async #takeTurns(trx: Trx, vaultId: string, sha256: string): Promise<void> {
    await takeTurns(trx, this.#database.dialect, `attachment:${vaultId}:${sha256}`);
  }
}
