import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import {
  exportFlowStore,
  FLOW_STORE_FILENAME,
  getFlowStorePath,
  importFlowStore,
  loadFlowStore,
  saveFlowStore,
} from '../../../flows/index.ts';
import { makeFolder } from '../../../home/index.ts';
import { ensureVaultWithAdmin } from '../../../identity/index.ts';
import { refusal } from '../../../kernel/errors.ts';
import { inertLine } from '../../../kernel/terminal.ts';
import { may } from '../../../operations/index.ts';
import { localCall, withApp } from '../local-call.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['flow', 'store']).description(`Import and export of ${FLOW_STORE_FILENAME}`);
  descend(program, ['flow', 'store', 'import'])
    .argument('<file>', `a ${FLOW_STORE_FILENAME}, or the folder that holds it`)
    .description('Take a store file into the library; what is not valid is reported and kept apart')
    .action((file: string) => importFile(resolve(file), cli));
  descend(program, ['flow', 'store', 'export'])
    .argument('[folder]', 'where to write it', '.')
    .description(`Write every vault's flows as ${FLOW_STORE_FILENAME}`)
    .action((folder: string) => exportFile(resolve(folder), cli));
}

async function importFile(path: string, cli: Cli): Promise<void> {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  if (isFile && basename(path) !== FLOW_STORE_FILENAME) {
    throw refusal('USAGE_ERROR', `Name a file called ${FLOW_STORE_FILENAME}, or the folder that holds it.`);
  }
  const folder = basename(path) === FLOW_STORE_FILENAME ? dirname(path) : path;
  await withApp(cli, async (app) => {
    const call = await localCall(app, cli);
    assertOperator(call.principal);
    const file = loadFlowStore(folder, {
      onDamaged: (where, reason) => {
        throw refusal(
          'STORE_FILE_DAMAGED',
          `The file is damaged (${reason}). It is kept as ${where}; nothing was imported.`,
        );
      },
    });
    if (Object.keys(file.vaults).length === 0) {
      throw refusal('NOT_FOUND', `There are no vaults in ${getFlowStorePath(folder)}. Name the file or its folder.`);
    }
    const { database, clock, auditLog } = app.services;
    const report = await database.transaction(async (trx) => {
      const done = await importFlowStore(
        trx,
        {
          dialect: database.dialect,
          clock,
          ensureVault: (inner, vaultId) => ensureVaultWithAdmin(inner, clock, vaultId, call.principal.user_id),
        },
        file,
      );
      await auditLog.done(trx, call, 'flow.store.import', { flows: done.flows, quarantined: done.quarantined.length });
      return done;
    });
    if (cli.options().json) {
      cli.print(JSON.stringify(report));
      return;
    }
    cli.print(
      `${report.flows} flow versions imported into ${report.vaults} vaults, ${report.already_there} were there already, ${report.records} other records kept.`,
    );
    for (const item of report.quarantined) {
      cli.print(inertLine(`not imported: ${item.kind} ${item.id} in ${item.vault_id}: ${item.reason}`));
    }
  });
}

async function exportFile(folder: string, cli: Cli): Promise<void> {
  await withApp(cli, async (app) => {
    assertOperator((await localCall(app, cli)).principal);
    const store = await exportFlowStore(app.services.database.queries);
    makeFolder(folder);
    saveFlowStore(folder, store);
    const path = join(folder, FLOW_STORE_FILENAME);
    cli.print(cli.options().json ? JSON.stringify({ file: path }) : `written to ${path}`);
  });
}

/** Whole-store acts see every vault and every scope, so they are the owner's. */
function assertOperator(principal: Parameters<typeof may>[0] & { vault_id: string }): void {
  if (may(principal, 'administer') && principal.vault_id === 'default') return;
  throw refusal('FORBIDDEN', 'The whole store is imported and exported by an admin of the vault default.');
}
