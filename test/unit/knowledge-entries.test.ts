import { describe, expect, it } from 'vitest';
import type { ApiCredential } from '../../src/flowise/index.ts';
import { allowlisted, credentialEntry } from '../../src/knowledge/credential-entry.ts';
import { bannedKeys, serverFolder, sourceHost } from '../../src/knowledge/index.ts';
import { mergeEntries } from '../../src/knowledge/merge-entries.ts';
import { templateEntries, templateId } from '../../src/knowledge/template-entry.ts';
import { findTemplates } from '../../src/knowledge/template-search.ts';
import { recordedTemplates } from '../support/fake-flowise/index.ts';
import { defaultConfig } from '../support/knowledge.ts';

const NOW = '2026-03-01T12:00:00.000Z';

function listed() {
  return recordedTemplates().map((template) => ({ ...template, id: crypto.randomUUID() }) as never);
}

describe('credential entries', () => {
  it('hold six fields, whatever a server or a file adds [S000-B4-allowlist]', () => {
    const api = {
      id: 'c1',
      name: 'Mine',
      credentialName: 'openAIApi',
      createdDate: NOW,
      encryptedData: 'zzz',
      plainDataObj: { openAIApiKey: 'zzz' },
    } as ApiCredential;
    const entry = credentialEntry(api);
    expect(entry).toEqual({
      credential_id: 'c1',
      name: 'Mine',
      type: 'openAIApi',
      tags: [],
      created_at: NOW,
      updated_at: null,
    });
    expect(allowlisted({ ...entry, workspaceId: 'w', note: 'n' })).toEqual(entry);
    for (const nothing of [null, 'x', {}, { credential_id: '' }, { credential_id: 'a', name: 1, type: 't' }]) {
      expect(allowlisted(nothing)).toBeNull();
    }
  });

  it('are refused for any key that sounds secret, at any depth [S000-D3-banned-keys]', () => {
    const clean = [{ credential_id: 'a', name: 'My OpenAI Key', type: 'tokenApi', tags: ['secret'], created_at: NOW }];
    expect(bannedKeys(clean)).toEqual([]);
    for (const key of [
      'encryptedData',
      'plainDataObj',
      'apiKey',
      'PASSWORD',
      'my_token',
      'credentialName',
      'aSecretB',
    ]) {
      expect(bannedKeys([...clean, { [key]: '' }])).toEqual([`/1/${key}`]);
    }
    expect(bannedKeys([{ tags: [{ deep: { 'api/key': 1 } }] }])).toEqual(['/0/tags/0/deep/api~1key']);
    expect(bannedKeys('nothing')).toEqual([]);
  });
});

describe('template entries', () => {
  it('have the same id on every request and no two share one [FLR-knowledge-stable-template-id]', () => {
    const first = templateEntries(listed(), [], NOW);
    const second = templateEntries(listed(), [], NOW);
    expect(second).toEqual(first);
    expect(new Set(first.map(({ template_id }) => template_id)).size).toBe(first.length);
    expect(templateId('Chatflow', 'A b')).not.toBe(templateId('Chatflow', 'A-b'));
    expect(templateId('Chatflow', 'LLM Chain')).toMatch(/^chatflow-llm-chain-[0-9a-f]{8}$/);
  });

  it('have what is known of a template but never its flow or code [S000-D2-template-entry] [S000-B3-templates-without-flows]', () => {
    const entries = templateEntries(listed(), [], NOW);
    const text = JSON.stringify(entries);
    expect(text.length).toBeLessThan(80_000);
    for (const entry of entries) {
      expect(Object.keys(entry)).not.toContain('flowData');
      expect(Object.keys(entry)).not.toContain('func');
      expect(entry.version_label).toBe('snapshot-2026-03-01');
    }
    const chain = entries.find(({ name }) => name === 'Conversational Retrieval QA Chain');
    expect(chain?.tags).toEqual(
      expect.arrayContaining(['documents qna', 'vector stores', 'langchain', 'conversational', 'rag']),
    );
  });

  it('keep their stamps while they say the same [FLR-knowledge-unchanged-bytes]', () => {
    const first = templateEntries(listed(), [], NOW);
    const changed = listed().map((template: { templateName: string }) =>
      template.templateName === 'LLM Chain' ? { ...template, description: 'Another' } : template,
    );
    const second = templateEntries(changed as never, first, '2026-04-01T00:00:00.000Z');
    const stamps = second.filter(({ snapshot_at }) => snapshot_at !== NOW).map(({ name }) => name);
    expect(stamps).toEqual(['LLM Chain']);
  });

  it('are found by tags, best first, three unless more are asked for [S000-E1-local-first]', () => {
    const entries = templateEntries(listed(), [], NOW);
    const found = findTemplates(entries, ['rag', 'Chatbot'], undefined, 'Chatflow');
    expect(found).toHaveLength(3);
    for (const { tags, type } of found) {
      expect(tags).toContain('rag');
      expect(type).toBe('Chatflow');
    }
    expect(findTemplates(entries, ['sql'])[0]?.tags).toContain('sql');
    expect(findTemplates(entries, ['Tool Agent'])[0]?.name).toBe('Tool Agent');
    expect(findTemplates(entries, [])).toEqual([]);
    expect(findTemplates(entries, ['x', ''])).toEqual([]);
    expect(findTemplates(entries, ['zzzzzz'])).toEqual([]);
    expect(findTemplates(entries, ['agent'], 1_000).length).toBeLessThanOrEqual(50);
  });
});

describe('merging what is known with what is listed', () => {
  it('keeps the order, brings up to date, adds, and tells what is gone [FLR-knowledge-removed-not-resolved]', () => {
    const known = [
      { id: 'a', name: 'A' },
      { id: 'b', name: 'B' },
      { id: 'c', name: 'C' },
    ];
    const now = [
      { id: 'd', name: 'D' },
      { id: 'c', name: 'C' },
      { id: 'a', name: 'A2' },
    ];
    expect(mergeEntries(known, now, ({ id }) => id)).toEqual({
      items: [
        { id: 'a', name: 'A2' },
        { id: 'b', name: 'B' },
        { id: 'c', name: 'C' },
        { id: 'd', name: 'D' },
      ],
      added: ['d'],
      changed: [{ id: 'a', fields: ['name'] }],
      removed: ['b'],
    });
  });
});

describe('where knowledge of a server is kept', () => {
  it('is a folder a server and vault, or the one that a setting names [FLR-knowledge-own-folder]', () => {
    const config = defaultConfig();
    const place = { config, schemasDir: '/home/schemas' };
    expect(serverFolder(place, 'default', 'main')).toBe('/home/schemas/main');
    expect(serverFolder(place, 'team', 'main')).toBe('/home/schemas/team~main');
    const named = { ...place, config: { ...config, knowledge_schemas_dir: '/srv/schemas' } };
    expect(serverFolder(named, 'team', 'main')).toBe('/srv/schemas');
  });

  it('names a server without what is secret in its address [S000-D4-meta]', () => {
    expect(sourceHost('http://me:pass@127.0.0.1:3000/flowise/?token=x')).toBe('http://127.0.0.1:3000/flowise');
    expect(sourceHost('http://localhost:3000/')).toBe('http://localhost:3000');
  });
});
