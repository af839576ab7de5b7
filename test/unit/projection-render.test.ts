import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type FlowBundle, flowStateId, readStarterBundles } from '../../src/flows/index.ts';
import {
  ACTIVE_HARNESSES,
  type ActiveHarness,
  contentHash,
  GENERATED_MARKER_PREFIX,
  HARNESSES,
  isHarnessActive,
  PROJECTION_GENERATOR_VERSION,
  projectFlow,
} from '../../src/projection/index.ts';
import { sampleFlow } from '../support/flows.ts';
import { ROOT } from '../support/program.ts';

const render = ({ flow, steps }: FlowBundle, harness: ActiveHarness) => projectFlow(flow, steps, harness).rendered;
const MARKER = (id: string, version: string) =>
  new RegExp(`^<!-- GENERATED FROM CANONICAL FLOW ${id}@${version} \\(generator v1\\).*do not edit.* -->$`, 'gm');

/** A flow in which every optional field has something. */
function fullFlow(): FlowBundle {
  const bundle = sampleFlow('flow_every_field', { tags: ['review', 'notes'], steps: 2 });
  bundle.flow.inputs = [
    { name: 'question', type: 'string', required: true },
    { name: 'since', type: 'date', required: false },
  ];
  const [first, second] = bundle.steps;
  if (!first || !second) throw new Error('two steps');
  first.requires = [
    { kind: 'tool', id: 'search' },
    { kind: 'vault_scope', id: 'personal' },
  ];
  first.skill_refs = [
    { kind: 'cli', id: 'notes find' },
    { kind: 'mcp_prompt', id: 'summarise' },
  ];
  first.inputs = [{ name: 'question', from: 'flow.inputs.question' }];
  first.outputs = [{ name: 'draft', type: 'text' }];
  first.boundaries = ['Read only.', 'No guessing.'];
  second.verification = { kind: 'artifact_exists', evidence_required: false, description: 'The file is there.' };
  return bundle;
}

describe('[FLR-projection-pure] a projection', () => {
  it('knows five harnesses and renders four', () => {
    expect([...HARNESSES].sort()).toEqual(['agent_bundle', 'cli_runbook', 'cursor_rule', 'cursor_skill', 'mcp_prompt']);
    expect(HARNESSES.filter(isHarnessActive).sort()).toEqual([...ACTIVE_HARNESSES].sort());
    expect(isHarnessActive('agent_bundle')).toBe(false);
    expect({ PROJECTION_GENERATOR_VERSION, GENERATED_MARKER_PREFIX }).toEqual({
      PROJECTION_GENERATOR_VERSION: '1',
      GENERATED_MARKER_PREFIX: 'GENERATED FROM CANONICAL FLOW',
    });
  });

  it.each(ACTIVE_HARNESSES)('%s: the same flow gives the same bytes, whatever order its steps come in', (harness) => {
    for (const { flow, steps } of readStarterBundles({})) {
      const once = projectFlow(flow, steps, harness);
      expect(projectFlow(structuredClone(flow), [...steps].reverse(), harness)).toEqual(once);
      expect(contentHash(once.rendered)).toMatch(/^sha256:[0-9a-f]{64}$/);
    }
  });

  it.each(ACTIVE_HARNESSES)(
    '%s: has one marker, steps in order, one line break at the end and no wide gap',
    (harness) => {
      for (const bundle of readStarterBundles({})) {
        const rendered = render(bundle, harness);
        expect(rendered.match(MARKER(bundle.flow.flow_id, bundle.flow.version))).toHaveLength(1);
        expect([...rendered.matchAll(/^## Step (\d+)/gm)].map(([, number]) => Number(number))).toEqual(
          bundle.steps.map(({ ordinal }) => ordinal),
        );
        expect(rendered).toMatch(/[^\n]\n$/);
        expect(rendered).not.toContain('\n\n\n');
      }
    },
  );

  it('asks neither clock, chance, file nor environment', () => {
    const folder = join(ROOT, 'src/projection');
    const files = readdirSync(folder).filter((file) => file !== 'operations.ts');
    for (const file of files) {
      const text = readFileSync(join(folder, file), 'utf8');
      expect(text, file).not.toMatch(/\bDate\b|Math\.random|\bprocess\.|globalThis|\bfetch\(|from 'node:/);
    }
  });

  it('changes by what changed in the flow and by nothing else', () => {
    const before = fullFlow();
    const after = structuredClone(before);
    after.flow.version = '1.1.0';
    (after.steps[1] as { trigger: string }).trigger = 'When the draft is there.';
    for (const harness of ['cursor_rule', 'cli_runbook'] as const) {
      const [old, fresh] = [before, after].map((bundle) => render(bundle, harness).split('\n'));
      const changed = fresh?.filter((line, at) => line !== old?.[at]);
      expect(changed, harness).toHaveLength(2);
      expect(changed?.join()).toMatch(/@1\.1\.0.*When the draft is there\./s);
    }
  });
});

describe('[FLR-projection-harnesses] a cursor_rule', () => {
  const { rendered, fidelity } = projectFlow(fullFlow().flow, fullFlow().steps, 'cursor_rule');

  it('begins with a front block, a blank line and the marker', () => {
    expect(rendered.split('\n').slice(0, 7)).toEqual([
      '---',
      'description: "A flow for tests."',
      'globs: **/*review*, **/*notes*',
      'alwaysApply: false',
      '---',
      '',
      expect.stringMatching(MARKER('flow_every_field', '1.0.0')),
    ]);
  });

  it('gives each step a heading and bold labels', () => {
    const first = rendered.slice(rendered.indexOf('## Step 1'), rendered.indexOf('## Step 2')).trim().split('\n\n');
    expect(first).toEqual([
      '## Step 1: Part 1',
      '**Instruction:** Do part 1.',
      '**Trigger:** When asked.',
      '**Boundaries:**',
      '- Read only.\n- No guessing.',
      '**Output shape:** A sentence.',
      '**Verification:** human_review — Somebody looked. (evidence required: yes)',
      '**Skill refs:** cli:notes find, mcp_prompt:summarise',
    ]);
    expect(rendered).toContain('artifact_exists — The file is there. (evidence required: no)');
    expect(rendered.match(/Skill refs/g)).toHaveLength(1);
  });

  it('says what it leaves out, sorted, and only what the flow has', () => {
    expect(fidelity.dropped_fields).toEqual(['inputs', 'outputs', 'requires', 'when_not_to_run']);
    expect(fidelity.notes).toContain('when not to run');
    expect(rendered).not.toContain('When nobody asked.');
    const plain = sampleFlow('flow_plain');
    expect(projectFlow(plain.flow, plain.steps, 'cursor_rule').fidelity.dropped_fields).toEqual(['when_not_to_run']);
  });

  it('applies to every file when there are no tags, and is described by the title when there is no summary', () => {
    const head = render(sampleFlow('flow_bare', { tags: [], summary: ' \n', title: 'Bare "bones"' }), 'cursor_rule');
    expect(head).toContain('\nglobs: **/*\n');
    expect(head).toContain('\ndescription: "Bare \\"bones\\""\n');
  });
});

describe('[FLR-projection-harnesses] a cli_runbook', () => {
  it('has title, marker, summary and every field of every step', () => {
    const { flow, steps } = fullFlow();
    const { rendered, fidelity } = projectFlow(flow, steps, 'cli_runbook');
    expect(fidelity).toEqual({ dropped_fields: [] });
    expect(rendered.slice(0, rendered.indexOf('\n## Step 2'))).toBe(
      [
        '# Title of flow_every_field',
        '',
        rendered.split('\n')[2],
        '',
        'A flow for tests.',
        '',
        '## Step 1',
        '',
        '- **Owned job:** Part 1',
        '- **Instruction:** Do part 1.',
        '- **Trigger:** When asked.',
        '- **When not to run:** When nobody asked.',
        '- **Requires:** tool:search, vault_scope:personal',
        '- **Boundaries:**',
        '  - Read only.',
        '  - No guessing.',
        '- **Skill refs:** cli:notes find, mcp_prompt:summarise',
        '- **Inputs:** question (from flow.inputs.question)',
        '- **Outputs:** draft:text',
        '- **Output shape:** A sentence.',
        '- **Verification:** human_review — Somebody looked. (evidence required: yes)',
        '- **Automatable:** manual',
        '',
      ].join('\n'),
    );
  });

  it('leaves out the labels of what a step does not have', () => {
    const second = render(fullFlow(), 'cli_runbook').split('## Step 2')[1] ?? '';
    for (const label of ['Requires', 'Skill refs', 'Inputs', 'Outputs']) expect(second).not.toContain(`**${label}:**`);
  });
});

describe('[FLR-projection-harnesses] a cursor_skill', () => {
  const frontOf = (text: string) => parse(/^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? '') as Record<string, unknown>;

  it('is a SKILL.md: name, description, metadata, then marker, title, inputs and whole steps', () => {
    const { flow, steps } = fullFlow();
    const { rendered, fidelity } = projectFlow(flow, steps, 'cursor_skill');
    expect(frontOf(rendered)).toEqual({
      name: 'every-field',
      description: 'A flow for tests.',
      metadata: { flow_id: 'flow_every_field', version: '1.0.0', state_id: flowStateId(flow, steps) },
    });
    expect(fidelity).toEqual({ dropped_fields: [] });
    const order = [
      '\nname: every-field\n',
      '<!-- GENERATED',
      '\n# Title of',
      '\nA flow for tests.\n',
      '- required: question (string)',
      '- optional: since (date)',
      '## Step 1: Part 1',
      '**When not to run:** When nobody asked.',
      '**Requires:** tool:search',
      '**Outputs:** draft:text',
      '## Step 2: Part 2',
    ];
    const places = order.map((text) => rendered.indexOf(text));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it.each(['flow_123', 'flow_2026_01_01', 'flow_true', 'flow_no', 'flow_null', 'flow_0x1f', 'flow_1e5'])(
    'of %s has a name that stays a text',
    (flowId) => {
      const { name } = frontOf(render(sampleFlow(flowId), 'cursor_skill'));
      expect(name).toBe(flowId.slice(5).replaceAll('_', '-'));
    },
  );

  it('has a description of at most 1024 characters that does not end inside an entity', () => {
    for (const summary of [
      '<'.repeat(2_000),
      'x'.repeat(90) + '👍'.repeat(950),
      `${'x'.repeat(1_021)}<<<<`,
      'a&b '.repeat(500),
    ]) {
      const description = String(frontOf(render(sampleFlow('flow_long', { summary }), 'cursor_skill')).description);
      expect([...description].length).toBeLessThanOrEqual(1024);
      expect(description).toMatch(/…$/);
      expect(description).not.toMatch(/&[a-z]{0,2}…$/);
    }
  });
});

describe('[FLR-projection-harnesses] an mcp_prompt', () => {
  it('says whose procedure it is and which, and holds the whole of it', () => {
    const { flow, steps } = fullFlow();
    const { rendered, fidelity } = projectFlow(flow, steps, 'mcp_prompt');
    expect(fidelity).toEqual({ dropped_fields: [] });
    expect(rendered).toMatch(/written procedure of the team/);
    for (const part of ['flow_every_field', '1.0.0', flowStateId(flow, steps)])
      expect(rendered).toContain(`\`${part}\``);
    for (const part of ['A flow for tests.', 'required: question (string)', 'When nobody asked.', 'tool:search'])
      expect(rendered).toContain(part);
    for (const part of ['question (from flow.inputs.question)', 'draft:text', 'Read only.', 'notes find', 'manual'])
      expect(rendered).toContain(part);
  });
});

describe('text of several lines', () => {
  const lines = 'Do this:\r\n- first\r- second\n\n\n\n\n## Step 9\n```\ncode\t<b>';

  it('stands as a quotation below its label, in rules and in lists', () => {
    const bundle = sampleFlow('flow_lines', { instruction: lines, steps: 1 });
    const quoted = ['> Do this:', '> - first', '> - second', '>', '> ## Step 9', '> ```', '> code    &lt;b&gt;'];
    expect(render(bundle, 'cursor_rule')).toContain(`**Instruction:**\n${quoted.join('\n')}\n\n**Trigger:**`);
    const inList = quoted.map((line) => `  ${line}`).join('\n');
    expect(render(bundle, 'cli_runbook')).toContain(`- **Instruction:**\n${inList}\n- **Trigger:**`);
  });

  it('is one line where there is room for one', () => {
    const bundle = sampleFlow('flow_lines', { title: 'One\r\n\ttwo', summary: 'three\n\nfour', steps: 1 });
    (bundle.steps[0] as { owned_job: string }).owned_job = 'five\n# six';
    (bundle.steps[0] as FlowBundle['steps'][0]).verification.description = 'seven\n- eight';
    const rule = render(bundle, 'cursor_rule');
    expect(rule).toContain('description: "three four"');
    expect(rule).toContain('## Step 1: five # six\n');
    expect(rule).toContain('human_review — seven - eight (evidence');
    expect(render(bundle, 'cli_runbook')).toMatch(/^# One two\n/);
    expect(render(bundle, 'cli_runbook')).toContain('\n\n> three\n>\n> four\n\n## Step 1\n');
  });
});
