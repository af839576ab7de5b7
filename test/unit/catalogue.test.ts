import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AnyOperation, Catalogue, defineOperation, type Room } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';

type Parts = Partial<Pick<AnyOperation, 'http' | 'mcp' | 'cli'>>;

function operation(name: string, parts: Parts = {}): AnyOperation {
  return defineOperation({
    name,
    summary: name,
    input: z.strictObject({}),
    output: z.strictObject({}),
    access: { can: 'read' },
    effect: 'read',
    http: { method: 'GET', path: `/${name}`, tag: 'Test' },
    handle: () => ({}),
    ...parts,
  });
}

function room(namespace: string, ...operations: AnyOperation[]): Room {
  return { namespaces: [{ name: namespace, summary: namespace }], parts: [{ load: async () => operations }] };
}

const command = (words: string) => ({ cli: { command: words, render: () => '' } });
const route = (method: 'GET' | 'POST', path: string) => ({ http: { method, path, tag: 'Test' } });

describe('[FLR-doors-catalogue] the catalogue refuses', () => {
  it('two rooms with one namespace', () => {
    expect(() => new Catalogue([room('a'), room('b'), room('a')])).toThrow('two rooms claim the namespace a');
  });

  it.each([
    ['one name twice', operation('a.x'), operation('a.x', route('GET', '/other')), 'share the name a.x'],
    [
      'one route twice',
      operation('a.x', route('GET', '/x')),
      operation('a.y', route('GET', '/x')),
      'share the route GET /x',
    ],
    [
      'one route under two parameter names',
      operation('a.x', route('GET', '/x/{id}')),
      operation('a.y', route('GET', '/x/{name}')),
      'share the route GET /x/{}',
    ],
    [
      'one MCP tool twice',
      operation('a.x', { mcp: { tool: 'do' } }),
      operation('a.y', { mcp: { tool: 'do' } }),
      'share the MCP tool do',
    ],
    [
      'one command twice, whatever its arguments',
      operation('a.x', command('a do <x>')),
      operation('a.y', command('a do')),
      'share the command a do',
    ],
  ])('%s', async (_, first, second, reason) => {
    await expect(new Catalogue([room('a', first, second)]).all()).rejects.toThrow(reason);
  });

  it('a second route that another operation has', async () => {
    const both = {
      http: [
        { method: 'GET', path: '/x', tag: 'Test' },
        { method: 'GET', path: '/y', tag: 'Test' },
      ] as const,
    };
    const catalogue = new Catalogue([room('a', operation('a.x', both), operation('a.y', route('GET', '/y')))]);
    await expect(catalogue.all()).rejects.toThrow('a.x and a.y share the route GET /y');
  });

  it('the same across two rooms', async () => {
    const tool = { mcp: { tool: 'do' } };
    const catalogue = new Catalogue([room('a', operation('a.x', tool)), room('b', operation('b.x', tool))]);
    await expect(catalogue.all()).rejects.toThrow('a.x and b.x share the MCP tool do');
  });

  it('an operation outside the namespaces of its room', async () => {
    const catalogue = new Catalogue([room('a', operation('b.x'))]);
    await expect(catalogue.all()).rejects.toThrow('b.x is outside the namespaces of its room');
  });
});

describe('the catalogue', () => {
  it('lets one path have two methods', async () => {
    const pair = [operation('a.x', route('GET', '/x')), operation('a.y', route('POST', '/x'))];
    expect(await new Catalogue([room('a', ...pair)]).all()).toEqual(pair);
  });

  it('loads only the room of the namespace in use', async () => {
    const unwanted: Room = { ...room('b'), parts: [{ load: () => Promise.reject(new Error('must not be loaded')) }] };
    const wanted = operation('a.x');
    expect(await new Catalogue([unwanted, room('a', wanted)]).inNamespace('a')).toEqual([wanted]);
    expect(await new Catalogue([unwanted]).inNamespace('nowhere')).toEqual([]);
  });

  it('loads only the part of the command in use, and every part for an unknown one', async () => {
    const list = operation('a.list', command('a list'));
    const change = operation('a.change', { ...command('a change'), ...route('POST', '/change') });
    const parts = [
      { commands: ['list'], load: async () => [list] },
      { commands: ['change'], load: async () => [change] },
    ];
    const catalogue = new Catalogue([{ ...room('a'), parts }]);
    expect(await catalogue.inNamespace('a', 'list')).toEqual([list]);
    expect(await catalogue.inNamespace('a', 'nothing')).toEqual([list, change]);
    expect(await catalogue.inNamespace('a')).toEqual([list, change]);
  });

  it('refuses a command that its part does not name', async () => {
    const parts = [{ commands: ['list'], load: async () => [operation('a.x', command('a other'))] }];
    await expect(new Catalogue([{ ...room('a'), parts }]).all()).rejects.toThrow('which its part does not name');
  });

  it('does not take a longer namespace for a shorter one', async () => {
    const both: Room = {
      ...room('a'),
      namespaces: [
        { name: 'a', summary: '' },
        { name: 'ab', summary: '' },
      ],
    };
    const catalogue = new Catalogue([
      { ...both, parts: [{ load: async () => [operation('a.x'), operation('ab.x')] }] },
    ]);
    expect((await catalogue.inNamespace('a')).map(({ name }) => name)).toEqual(['a.x']);
  });

  it('[FLR-doors-catalogue] of the program holds together', async () => {
    const catalogue = createCatalogue();
    const names = (await catalogue.all()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['flow.list', 'flow.get', 'flow.search', 'token.create']));
    expect(catalogue.reservedCommands()).toEqual(['flow run']);
  });
});
