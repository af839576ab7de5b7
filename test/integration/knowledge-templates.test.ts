import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { snapshotPaths } from '../../src/knowledge/snapshot-file.ts';
import { templateId } from '../../src/knowledge/template-entry.ts';
import { recordedTemplates } from '../support/fake-flowise/index.ts';
import { knowledgeScene } from '../support/knowledge.ts';

const ROUTE = '/marketplaces/templates';

describe('templates', () => {
  it('are listed once and then found without a request until they have aged [S000-M2-template-ttl] [S000-E1-local-first]', async () => {
    const scene = await knowledgeScene();
    const first = await scene.provider().openSession().findTemplates(['rag', 'chatbot']);
    expect(first).toHaveLength(3);
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(1);
    scene.clock.pass(86_399);
    expect(await scene.provider().openSession().findTemplates(['rag', 'chatbot'])).toEqual(first);
    expect(scene.fake.requests.count()).toBe(1);

    scene.clock.pass(2);
    const before = scene.bytes('flowise_templates');
    const session = scene.provider().openSession();
    expect(await session.findTemplates(['rag', 'chatbot'])).toEqual(first);
    await session.findTemplates(['sql']);
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(2);
    expect(scene.bytes('flowise_templates')).toEqual(before);
    await scene.provider().openSession().findTemplates(['sql']);
    expect(scene.fake.requests.count()).toBe(2);
  });

  it('share one request among all who wait for it [S000-M2-template-ttl]', async () => {
    const scene = await knowledgeScene();
    const provider = scene.provider();
    await Promise.all([1, 2, 3].map(() => provider.openSession().findTemplates(['sql'])));
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(1);
  });

  it('are kept without their flows, and a flow is fetched when it is used [S000-B3-templates-without-flows] [S000-E5-state-keys] [FLR-knowledge-stable-template-id]', async () => {
    const scene = await knowledgeScene();
    const session = scene.provider().openSession();
    const [found] = await session.findTemplates(['Tool Agent'], 1, 'Chatflow');
    expect(found?.template_id).toBe(templateId('Chatflow', 'Tool Agent'));
    expect(session.state().artifacts.flowise.template_used).toBeNull();
    const { snapshot } = scene.bytes('flowise_templates');
    expect(snapshot).not.toContain('"nodes"');
    expect(JSON.parse(snapshot)).toHaveLength(recordedTemplates().length);

    const flow = await session.useTemplate(found?.template_id ?? '');
    expect(JSON.parse(flow ?? '')).toHaveProperty('nodes');
    expect(session.state().artifacts.flowise.template_used).toBe(found?.template_id);
    expect(scene.bytes('flowise_templates').snapshot).toBe(snapshot);
    await expect(session.useTemplate('unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are served old when the server is down, with a warning and one attempt a session [FLR-knowledge-last-good]', async () => {
    const scene = await knowledgeScene();
    const known = await scene.provider().openSession().findTemplates(['rag']);
    const before = scene.bytes('flowise_templates');
    scene.clock.pass(100_000);
    scene.fake.fault('GET', ROUTE, { kind: 'answer', status: 403, body: '{"message":"no"}' });
    const session = scene.provider().openSession();
    expect(await session.findTemplates(['rag'])).toEqual(known);
    await session.findTemplates(['rag']);
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(2);
    expect(session.warnings).toHaveLength(1);
    expect(session.warnings[0]?.code).toMatch(/^FLOWISE_/);
    expect(scene.bytes('flowise_templates')).toEqual(before);
  });

  it('are not wiped by an empty answer [FLR-knowledge-last-good]', async () => {
    const scene = await knowledgeScene();
    const known = await scene.provider().openSession().findTemplates(['rag']);
    scene.clock.pass(100_000);
    scene.fake.fault('GET', ROUTE, { kind: 'answer', status: 200, body: '[]', contentType: 'application/json' });
    const session = scene.provider().openSession();
    expect(await session.findTemplates(['rag'])).toEqual(known);
    expect(session.warnings.map(({ code }) => code)).toEqual(['FLOWISE_BAD_ANSWER']);
  });

  it('of a broken file are fetched again before anything is answered [S000-E3-mismatch-refreshes]', async () => {
    const scene = await knowledgeScene();
    const known = await scene.provider().openSession().findTemplates(['rag']);
    const { snapshot } = snapshotPaths(scene.folder, 'flowise_templates');
    writeFileSync(snapshot, readFileSync(snapshot, 'utf8').replaceAll('rag', 'gone'));
    const session = scene.provider().openSession();
    expect(await session.findTemplates(['rag'])).toEqual(known);
    expect(session.warnings.map(({ code }) => code)).toEqual(['SNAPSHOT_INVALID']);
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(2);
  });

  it('that the server has no more stay in the file and are not found [FLR-knowledge-removed-not-resolved]', async () => {
    const scene = await knowledgeScene({ templates: recordedTemplates() });
    await scene.provider().openSession().findTemplates(['rag']);
    const { templates } = scene.fake.world;
    templates.splice(
      templates.findIndex(({ templateName }) => templateName === 'Tool Agent'),
      1,
    );
    scene.clock.pass(100_000);
    const session = scene.provider().openSession();
    const found = await session.findTemplates(['Tool Agent'], 50);
    expect(found.map(({ name }) => name)).not.toContain('Tool Agent');
    expect(scene.bytes('flowise_templates').snapshot).toContain('"Tool Agent"');
    const reading = scene.read('flowise_templates');
    expect(reading.state === 'ok' && reading.meta.removed).toEqual([templateId('Chatflow', 'Tool Agent')]);
    const again = await scene.provider().openSession().findTemplates(['Tool Agent'], 50);
    expect(again.map(({ name }) => name)).not.toContain('Tool Agent');
  });
});
