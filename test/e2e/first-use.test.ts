import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FlowStep, FlowSummary } from '../../src/flows/index.ts';
import { onEachDatabase, onFirst, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, flowrightJson, type ProgramOptions, programEnv, ROOT } from '../support/program.ts';

interface List {
  flows: FlowSummary[];
  effective_scope: string;
  truncated: boolean;
}
interface Definition {
  flow: { version: string; steps: string[]; title: string };
  steps: FlowStep[];
}

const PERSONAL = ['flow_capture_to_note', 'flow_research_brief', 'flow_reviewed_writeback', 'flow_session_to_flow'];
const PROJECT = ['flow_multi_repo_change', 'flow_overseer_handover'];

const idsOf = ({ flows }: List) => flows.map(({ flow_id }) => flow_id).sort();

onEachDatabase((engine, makeStore) => {
  const once = onFirst(engine);
  let store: TestStore;
  let options: ProgramOptions;

  beforeEach(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
  });
  afterEach(() => store.remove());

  it('[S002-9.3-first-use] [S002-5-six-starters] an empty home answers the first list with six flows', async () => {
    expect(readdirSync(store.home)).toEqual([]);
    const list = await flowrightJson<List>(['flow', 'list'], options);
    expect(idsOf(list)).toEqual([...PERSONAL, ...PROJECT].sort());
    expect(list).toMatchObject({ effective_scope: 'org', truncated: false });
    expect(list.flows.reduce((sum, { step_count }) => sum + step_count, 0)).toBe(24);
    expect(await flowrightJson(['flow', 'list'], options)).toEqual(list);
  });

  once('[S002-9.3-first-use] [S002-1.5-step-order] the handover flow has six ordered steps of both kinds', async () => {
    const { flow, steps } = await flowrightJson<Definition>(['flow', 'get', 'flow_overseer_handover'], options);
    expect(steps.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(flow.steps).toEqual([1, 2, 3, 4, 5, 6].map((ordinal) => `flow_overseer_handover#${ordinal}`));
    expect(steps.map(({ step_id }) => step_id)).toEqual(flow.steps);
    expect(new Set(steps.map(({ verification }) => verification.kind))).toEqual(
      new Set(['human_review', 'artifact_exists']),
    );
  });

  once('[S002-9.3-first-use] [S002-2.1-narrow] --scope personal has exactly the four personal flows', async () => {
    const personal = await flowrightJson<List>(['flow', 'list', '--scope', 'personal'], options);
    expect(idsOf(personal)).toEqual(PERSONAL);
    expect(personal.flows.every(({ scope }) => scope === 'personal')).toBe(true);
    expect(personal.effective_scope).toBe('personal');
    expect(idsOf(await flowrightJson<List>(['flow', 'list', '--scope', 'project'], options))).toEqual(PROJECT);
    expect(idsOf(await flowrightJson<List>(['flow', 'list', '--scope', 'org'], options))).toEqual([]);
  });

  it('[S002-1.4-seed-lazy] the first get seeds as well, and so does the first search', async () => {
    await flowrightJson(['flow', 'get', 'flow_research_brief'], options);
    await flowright(['vault', 'create', 'second'], options);
    const found = await flowrightJson<List>(['flow', 'search', 'handover', '--vault', 'second'], options);
    expect(idsOf(found)).toContain('flow_overseer_handover');
    expect((await flowrightJson<List>(['flow', 'list'], options)).flows).toHaveLength(6);
  });

  it('[S002-2.2-version] a pinned version is returned as it was, the latest otherwise', async () => {
    importVersions(store.home, ['1.0.0', '1.2.0', '1.10.0']);
    const report = await flowrightJson(['flow', 'store', 'import', join(store.home, 'import')], options);
    expect(report).toMatchObject({ flows: 3, quarantined: [] });
    const get = (...more: string[]) => flowrightJson<Definition>(['flow', 'get', 'flow_versions', ...more], options);
    expect((await get()).flow).toMatchObject({ version: '1.10.0', title: 'Title at 1.10.0' });
    expect((await get('--version', '1.2.0')).flow).toMatchObject({ version: '1.2.0', title: 'Title at 1.2.0' });
    const absent = await flowright(['flow', 'get', 'flow_versions', '--version', '1.1.0'], options);
    expect(absent).toMatchObject({ status: 1, stdout: '' });
    expect(absent.stderr).toContain('unknown_flow');
  });

  once('knowtation is a second name of the program and gives the same bytes', async () => {
    const knowtation = join(ROOT, 'node_modules', '.bin', 'knowtation');
    const { stdout } = await promisify(execFile)(knowtation, ['flow', 'list', '--json'], { env: programEnv(options) });
    expect(stdout).toBe((await flowright(['flow', 'list', '--json'], options)).stdout);
    expect(JSON.parse(stdout).flows).toHaveLength(6);
  });
});

function importVersions(home: string, versions: string[]): void {
  const bundles = versions.map((version) => sampleFlow('flow_versions', { version, title: `Title at ${version}` }));
  const vault = {
    flows: bundles.map(({ flow }) => flow),
    steps: bundles.flatMap(({ flow, steps }) => steps.map((step) => ({ ...step, flow_version: flow.version }))),
  };
  mkdirSync(join(home, 'import'));
  writeFileSync(join(home, 'import', 'hub_flow_store.json'), JSON.stringify({ vaults: { default: vault } }));
}
