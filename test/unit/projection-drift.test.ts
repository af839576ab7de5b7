import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FLOW_ID_RE } from '../../src/flows/index.ts';
import {
  ACTIVE_HARNESSES,
  contentHash,
  defaultArtifactPath,
  detectDrift,
  flowIdOf,
  isProjectionStale,
  projectFlow,
  readMarker,
  skillNameOf,
  slugOf,
} from '../../src/projection/index.ts';
import { sampleFlow } from '../support/flows.ts';

const rendered = (version = '1.0.0') => {
  const { flow, steps } = sampleFlow('flow_drift', { version });
  return projectFlow(flow, steps, 'cli_runbook').rendered;
};

describe('[FLR-projection-drift] drift of a file', () => {
  const fresh = rendered();

  it.each([
    ['no file', null, 'absent'],
    ['an empty file', '', 'absent'],
    ['a blank file', ' \n\n', 'absent'],
    ['a file written by hand', '# Our agents\n', 'missing_marker'],
    ['a file without its marker', fresh.replace(/<!--.*-->/, ''), 'missing_marker'],
    [
      'words of the marker in the text',
      `# A\n\nGENERATED FROM CANONICAL FLOW flow_drift@1.0.0 (generator v1)\n`,
      'missing_marker',
    ],
    [
      'the marker inside other text',
      `# A\n\nsee <!-- GENERATED FROM CANONICAL FLOW flow_drift@1.0.0 (generator v1): x -->\n`,
      'missing_marker',
    ],
    ['the very text', fresh, 'clean'],
    ['the text with line ends of Windows', fresh.replaceAll('\n', '\r\n'), 'clean'],
    ['the text of an older version that reads the same', rendered('0.9.0'), 'clean'],
    ['a marker with other words after it', fresh.replace(/: do not edit.* -->/, ' -->'), 'clean'],
    ['a letter more', `${fresh}x`, 'edited'],
    ['a line break less', fresh.slice(0, -1), 'edited'],
    ['a second marker', fresh.replace(/(<!--.*-->)/, '$1\n$1'), 'edited'],
    ['text before the marker', `Hello\n${fresh}`, 'edited'],
  ])('%s', (_what, onDisk, reason) => {
    expect(detectDrift({ onDisk, fresh })).toEqual({ drift: reason !== 'clean', reason });
  });

  it('reads what the marker says', () => {
    expect(readMarker(rendered('2.3.4'))).toEqual({ flow_id: 'flow_drift', version: '2.3.4', generator_version: '1' });
    expect(readMarker(rendered('2.3.4').replaceAll('\n', '\r\n'))).toMatchObject({ version: '2.3.4' });
    expect(readMarker('# nothing')).toBeNull();
  });

  it('does not depend on when it was rendered, and the hash only on the bytes', () => {
    expect(contentHash('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(contentHash(rendered())).toBe(contentHash(rendered()));
    expect(contentHash(`${rendered()} `)).not.toBe(contentHash(rendered()));
  });
});

describe('[FLR-projection-drift] staleness', () => {
  it.each([
    ['0.1.0', '0.2.0', true],
    ['1.9.0', '1.10.0', true],
    ['1.0.0', '1.0.0', false],
    ['2.0.0', '1.0.0', false],
    ['1', '1.0.0', true],
    ['1.0.0', '', true],
    ['nonsense', 'nonsense', true],
    ['9007199254740993.0.0', '9007199254740992.0.0', false],
  ])('%s against %s: %s', (projection, latest, stale) => {
    expect(isProjectionStale(projection, latest)).toBe(stale);
  });
});

describe('[FLR-projection-names] names', () => {
  it('of files are where each harness looks for them', () => {
    expect(
      Object.fromEntries(ACTIVE_HARNESSES.map((harness) => [harness, defaultArtifactPath(harness, 'flow_a_b')])),
    ).toEqual({
      cursor_rule: '.cursor/rules/a-b.mdc',
      cursor_skill: '.cursor/skills/a-b/SKILL.md',
      cli_runbook: 'AGENTS.md',
      mcp_prompt: null,
    });
  });

  it.each([
    ['flow_a_b', 'a-b'],
    ['flow_x', 'x'],
    ['flow_2fa', '2fa'],
    [`flow_${'a'.repeat(64)}`, 'a'.repeat(64)],
    ['flow__a', null],
    ['flow_a_', null],
    ['flow_a__b', null],
    ['flow__', null],
  ])('the skill of %s is %s', (flowId, name) => {
    expect(FLOW_ID_RE.test(flowId)).toBe(true);
    expect(skillNameOf(flowId)).toBe(name);
  });

  it('lead back to their flow and to no other', () => {
    const flowId = fc.stringMatching(/^flow_[a-z0-9_]{1,64}$/);
    fc.assert(
      fc.property(flowId, flowId, (one, other) => {
        expect(flowIdOf(slugOf(one))).toBe(one);
        if (one !== other) expect(slugOf(one)).not.toBe(slugOf(other));
        expect(skillNameOf(one) ?? slugOf(one)).toBe(slugOf(one));
      }),
    );
  });

  it.each(['a_b', '', 'A-b', 'a b', 'flow/a', '../a', 'a-b\n', 'é', 'a'.repeat(65), '__proto__', 'constructor%00'])(
    'that no flow has lead nowhere: %j',
    (slug) => expect(flowIdOf(slug)).toBeNull(),
  );
});
