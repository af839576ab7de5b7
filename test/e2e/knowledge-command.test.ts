import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder, tempFolder } from '../support/home.ts';
import { flowright, programEnv, ROOT } from '../support/program.ts';
import { HAS_TMUX, openTerminal } from '../support/terminal.ts';

const run = promisify(execFile);

describe('the command knowledge', () => {
  it('shows its help and ends with 1 when no part is named [S000-F1-parts]', async () => {
    const { status, stdout, stderr } = await flowright(['knowledge', 'refresh'], { home: tempFolder() });
    expect(status).toBe(1);
    expect(stdout + stderr).toMatch(/--all[\s\S]*--workday-api[\s\S]*--dry-run[\s\S]*--validate/);
  });

  it('counts without a server and writes nothing, also through the script [S000-M1-dry-run-counts]', async () => {
    const home = tempFolder();
    const script = join(ROOT, 'scripts', 'refresh_knowledge.sh');
    const { stdout } = await run('bash', [script, '--nodes', '--dry-run'], { env: programEnv({ home }) });
    expect(stdout).toBe('[nodes]       297 items — no change (fingerprint match)\nDry run: nothing was written.\n');
  });

  it('says that Workday is not implemented, and ends with 0 [S000-M4-no-op]', async () => {
    const home = tempFolder();
    const args = ['knowledge', 'refresh', '--workday-mcp', '--workday-api'];
    const { status, stdout } = await flowright(args, { home });
    const line = 'Workday knowledge refresh not yet implemented\n';
    expect([status, stdout]).toEqual([0, line + line]);
  });

  it('ends with 1 on a banned key, and with 2 when a part failed [S000-M3-validate] [FLR-refresh-parts-are-independent]', async () => {
    const home = tempFolder();
    const folder = tempFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'flowise_credentials.snapshot.json'), '[{"encryptedData":"hush"}]');
    const env = { KNOWLEDGE_SCHEMAS_DIR: folder };
    const lint = await flowright(['knowledge', 'refresh', '--credentials', '--validate'], { home, env });
    expect([lint.status, lint.stdout]).toEqual([1, expect.stringContaining('/0/encryptedData is a banned key')]);
    expect(lint.stdout).not.toContain('hush');
    const failing = await flowright(['knowledge', 'refresh', '--templates', '--workday-mcp', '--json'], { home, env });
    expect(failing.status).toBe(2);
    const outcomes = JSON.parse(failing.stdout).parts.map(({ outcome }: { outcome: string }) => outcome);
    expect(outcomes).toEqual(['failed', 'not_implemented']);
  });

  it.skipIf(!HAS_TMUX)('tells its progress on a terminal, part by part [S000-F1-parts]', async () => {
    const { folder, remove } = makeFolder();
    const args = ['knowledge', 'refresh', '--all', '--validate'];
    const terminal = await openTerminal(folder, args, { home: join(folder, 'home') });
    onTestFinished(async () => {
      await terminal.close();
      remove();
    });
    const screen = await terminal.shows(/ended with 0/);
    expect(screen).toMatch(
      /nodes: checking …\s+nodes: done in \d+ ms\s+\[nodes\] +297 items — valid[\s\S]*credentials: done/,
    );
  });
});
