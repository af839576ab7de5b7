import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStarterBundles, STARTER_FLOWS_DIRNAME } from '../../src/flows/index.ts';
import { STARTER_REVISION } from '../../src/flows/starter.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { sampleFlow } from '../support/flows.ts';
import { tempFolder } from '../support/home.ts';
import { ROOT } from '../support/program.ts';

/** SHA-256 of the six files one after the other in name order, by revision. Add a line; never change one. */
const HASHES: Record<number, string> = {
  1: '7e2ae295539d933388bc4668eb04a203ed56825e65fa6d7300f985a2c9382774',
};

const folder = join(ROOT, STARTER_FLOWS_DIRNAME);
const files = readdirSync(folder).sort();
const starters = readStarterBundles({
  onReject: (file, reason) => {
    throw new Error(`${file}: ${reason}`);
  },
});

describe('[S002-5-six-starters] the starter flows', () => {
  it('are six, with 24 steps, four personal and two project', () => {
    const lines = starters.map(({ flow, steps }) => `${flow.flow_id} ${flow.scope} ${steps.length}`);
    expect(lines).toEqual([
      'flow_capture_to_note personal 3',
      'flow_multi_repo_change project 8',
      'flow_overseer_handover project 6',
      'flow_research_brief personal 3',
      'flow_reviewed_writeback personal 2',
      'flow_session_to_flow personal 2',
    ]);
    expect(starters.flatMap(({ steps }) => steps)).toHaveLength(24);
  });

  it('are the files of the folder, each named after its flow', () => {
    expect(files).toEqual(starters.map(({ flow }) => `${flow.flow_id}.json`));
  });

  it('use both kinds of proof in the handover', () => {
    const handover = starters.find(({ flow }) => flow.flow_id === 'flow_overseer_handover');
    expect(handover?.steps.map(({ verification }) => verification.kind)).toEqual([
      'artifact_exists',
      'human_review',
      'human_review',
      'artifact_exists',
      'artifact_exists',
      'human_review',
    ]);
  });

  it('have a revision that moves with them', () => {
    const hash = sha256Hex(Buffer.concat(files.map((file) => readFileSync(join(folder, file)))));
    expect(
      HASHES[STARTER_REVISION],
      `The starter files changed (now ${hash}). Bump STARTER_REVISION in src/flows/starter.ts so that existing vaults receive them, and add the hash here.`,
    ).toBe(hash);
  });
});

describe('reading starter flows', () => {
  function read(starterDir: string) {
    const rejected: string[] = [];
    const bundles = readStarterBundles({ starterDir, onReject: (file, reason) => rejected.push(`${file}: ${reason}`) });
    return { ids: bundles.map(({ flow }) => flow.flow_id), rejected };
  }

  it('takes flow_*.json in name order and nothing else', () => {
    const starterDir = tempFolder();
    for (const name of ['flow_b', 'flow_a'])
      writeFileSync(join(starterDir, `${name}.json`), JSON.stringify(sampleFlow(name)));
    writeFileSync(join(starterDir, 'readme.json'), '{');
    writeFileSync(join(starterDir, 'flow_c.json.bak'), '{');
    expect(read(starterDir)).toEqual({ ids: ['flow_a', 'flow_b'], rejected: [] });
  });

  it('[S002-1.4-seed-rejects-whole] reports a bad file with the reason and goes on', () => {
    const starterDir = tempFolder();
    const incomplete = sampleFlow('flow_incomplete');
    delete (incomplete.steps[1] as Record<string, unknown>).trigger;
    writeFileSync(join(starterDir, 'flow_broken.json'), '{"flow":');
    writeFileSync(join(starterDir, 'flow_incomplete.json'), JSON.stringify(incomplete));
    writeFileSync(join(starterDir, 'flow_sound.json'), JSON.stringify(sampleFlow('flow_sound')));
    mkdirSync(join(starterDir, 'flow_folder.json'));
    const { ids, rejected } = read(starterDir);
    expect(ids).toEqual(['flow_sound']);
    expect(rejected).toEqual([
      expect.stringMatching(/^flow_broken\.json: .+JSON/),
      expect.stringMatching(/^flow_folder\.json: EISDIR/),
      expect.stringMatching(/^flow_incomplete\.json: \/steps\/1\/trigger: /),
    ]);
  });

  it('finds none in a folder that is not there', () => {
    expect(read(join(tempFolder(), 'nowhere'))).toEqual({ ids: [], rejected: [] });
  });
});
