import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NodeSchema } from '../../src/flowise/index.ts';
import { packageRoot } from '../../src/home/index.ts';
import { compareCatalogues } from '../../src/knowledge/audit.ts';
import { normaliseNode } from '../../src/knowledge/normalise-node.ts';
import { parseReference, writeReference } from '../../src/knowledge/reference.ts';
import { readSnapshot } from '../../src/knowledge/snapshot-file.ts';
import { recordedNodes, recordedTemplates, recordingsFolder } from '../support/fake-flowise/data.ts';

const ROOT = packageRoot();
const SCHEMAS = join(ROOT, 'schemas');
const reference = readFileSync(join(ROOT, 'FLOWISE_NODE_REFERENCE.md'), 'utf8');
const parsed = parseReference(reference);
const text = (file: string) => readFileSync(join(SCHEMAS, file), 'utf8');
const items = (file: string) => JSON.parse(text(file));
const byType = (nodes: NodeSchema[]) => [...nodes].sort((one, other) => (one.node_type < other.node_type ? -1 : 1));

/** Every text in a value, with the key it stands under. */
function textsOf(value: unknown, key = ''): { key: string; text: string }[] {
  if (typeof value === 'string') return [{ key, text: value }];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => textsOf(member, Array.isArray(value) ? key : name));
}

describe('the committed knowledge', () => {
  it('has a sound snapshot of nodes that is the reference, and writes the same reference [S000-C-committed-files] [FLR-reference-round-trip]', () => {
    const { nodes, issues } = parsed;
    expect(issues).toEqual([]);
    const snapshot = readSnapshot(SCHEMAS, 'flowise_nodes');
    expect(snapshot).toMatchObject({
      state: 'ok',
      meta: { item_count: 297, source_host: null, flowise_version: '3.1.4' },
    });
    expect(byType(nodes)).toStrictEqual(items('flowise_nodes.snapshot.json'));
    expect(writeReference(nodes)).toBe(reference);
  });

  it('has templates without flows and no credentials at all [S000-C-committed-files]', () => {
    expect(readSnapshot(SCHEMAS, 'flowise_templates')).toMatchObject({ state: 'ok', meta: { item_count: 50 } });
    expect(text('flowise_templates.snapshot.json')).not.toContain('"flowData"');
    expect(readSnapshot(SCHEMAS, 'flowise_credentials').state).toBe('missing');
    const isIgnored = execFileSync('git', ['check-ignore', '--no-index', 'schemas/flowise_credentials.snapshot.json'], {
      cwd: ROOT,
    });
    expect(String(isIgnored).trim()).toBe('schemas/flowise_credentials.snapshot.json');
    expect(readFileSync(join(ROOT, '.gitignore'), 'utf8')).toMatch(/# .*credentials.*\n.*schemas\/flowise_credentials/);
  });

  it('has the Workday stubs [S000-M4-stubs]', () => {
    for (const kind of ['workday_mcp', 'workday_api'] as const) {
      expect(items(`${kind}.snapshot.json`)).toEqual([]);
      expect(items(`${kind}.meta.json`)).toEqual({ status: 'stub', item_count: 0, sha256: null });
      expect(readSnapshot(SCHEMAS, kind).state).toBe('stub');
    }
  });

  it('holds every fact of the recorded nodes [FLR-reference-own-words]', () => {
    const { summary, nodes } = compareCatalogues(parsed.nodes, recordedNodes().map(normaliseNode));
    expect(nodes).toEqual([]);
    expect(summary.PASS).toBe(297);
  });

  it('never leaves a replaced default empty, and marks it as ours [FLR-reference-own-words]', () => {
    const marked = parsed.nodes.filter(({ own_defaults }) => own_defaults);
    expect(marked.length).toBeGreaterThan(15);
    for (const node of marked) {
      for (const name of node.own_defaults ?? []) {
        const input = node.input_params.find((one) => one.name === name);
        expect(String(input?.default).trim().length, `${node.node_type}.${name}`).toBeGreaterThan(20);
      }
    }
    const chain = marked.find(({ node_type }) => node_type === 'conversationalRetrievalQAChain');
    expect(chain?.own_defaults).toContain('responsePrompt');
  });

  it.skipIf(recordingsFolder() === null)(
    'holds no sentence of Flowise, and prompts keep their places [FLR-reference-own-words]',
    () => {
      const PROSE = new Set([
        'description',
        'hint',
        'value',
        'warning',
        'placeholder',
        'deprecateMessage',
        'codeExample',
        'default',
      ]);
      const theirs = new Set(
        [...textsOf(recordedNodes()), ...textsOf(recordedTemplates().map(({ flowData: _, ...rest }) => rest))]
          .filter((one) => PROSE.has(one.key) && one.text.length > 60 && /\s/.test(one.text))
          .map((one) => one.text.trim()),
      );
      theirs.delete(
        '<p><span class="variable" data-type="mention" data-id="question" data-label="question">{{ question }}</span> </p>',
      );
      expect(theirs.size).toBeGreaterThan(300);
      const ours = [parsed.nodes, items('flowise_nodes.snapshot.json'), items('flowise_templates.snapshot.json')];
      expect(textsOf(ours).filter((one) => theirs.has(one.text.trim()))).toEqual([]);
      const places = (prompt: unknown) => [...new Set(String(prompt).match(/\{\w+\}/g) ?? [])].sort();
      const live = new Map(recordedNodes().map((node) => [node.name, node]));
      for (const node of parsed.nodes) {
        for (const name of node.own_defaults ?? []) {
          const original = live.get(node.node_type)?.inputs?.find((one) => one.name === name);
          const input = node.input_params.find((one) => one.name === name);
          expect(places(input?.default), `${node.node_type}.${name}`).toEqual(places(original?.default));
        }
      }
    },
  );
});
