import { describe, expect, it } from 'vitest';
import {
  type AnyOperation,
  actorHash,
  type Call,
  type Principal,
  ROLES,
  type Role,
} from '../../src/operations/index.ts';
import { authorise } from '../../src/operations/invoke.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { isOfFlowcharts } from '../support/flowchart-scene.ts';
import { isOfFlowise } from '../support/flowise-scene.ts';

const operations = await createCatalogue().all();
const named = (name: string): AnyOperation => operations.find((operation) => operation.name === name)!;

function callBy(kind: Principal['kind'], role: Role, vaultId = 'default'): Call {
  const principal: Principal = {
    user_id: 'anna',
    kind,
    vault_id: vaultId,
    role,
    visible_scopes: new Set(['personal']),
    ambiguous: false,
    actor_hash: actorHash('anna', vaultId),
  };
  return { principal, door: 'http', request_id: 'r', correlation_id: undefined };
}

const ADMINISTRATION = ['user', 'member', 'token', 'vault'];
const administration = operations.filter(
  ({ name, effect }) => ADMINISTRATION.includes(name.split('.')[0] ?? '') && effect !== 'read',
);

describe('[FLR-people-decide] administration', () => {
  it('is what changes users, members, tokens and vaults', () => {
    expect(administration.map(({ name }) => name).sort()).toEqual([
      'member.remove',
      'member.set',
      'token.create',
      'token.revoke',
      'user.create',
      'user.disable',
      'user.enable',
      'vault.create',
    ]);
  });

  it.each(administration)('$name has no MCP tool and refuses agents of every role', (operation) => {
    expect(operation.mcp).toBeUndefined();
    for (const role of ROLES) {
      expect(() => authorise(operation, callBy('agent', role)), role).toThrow(
        expect.objectContaining({ code: 'FORBIDDEN' }),
      );
    }
    expect(() => authorise(operation, callBy('user', 'admin'))).not.toThrow();
  });

  it('tells an agent that its role is not the reason', () => {
    expect(() => authorise(named('token.create'), callBy('agent', 'admin'))).toThrow('is for people');
    expect(() => authorise(named('token.create'), callBy('agent', 'viewer'))).toThrow('needs the role admin');
  });
});

describe('authorisation', () => {
  it.each(ROLES)('lets a %s read flows, person or agent', (role) => {
    for (const kind of ['user', 'agent', 'local'] as const) {
      expect(() => authorise(named('flow.list'), callBy(kind, role))).not.toThrow();
    }
  });

  it('asks nothing for what is public', () => {
    expect(() => authorise(named('health.show'), callBy('agent', 'viewer', ''))).not.toThrow();
  });

  it('names the role that is needed and the one held', () => {
    expect(() => authorise(named('member.set'), callBy('user', 'editor'))).toThrow(
      'member.set needs the role admin in this vault; yours is editor.',
    );
  });

  it('leaves the whole hub to admins of the vault default', () => {
    expect(() => authorise(named('user.create'), callBy('user', 'admin', 'other'))).toThrow('concerns the whole hub');
    expect(() => authorise(named('user.create'), callBy('user', 'admin'))).not.toThrow();
  });

  it('[S002-1.4-no-public-writes] has nothing to allow that writes a flow: proposals, and the mirror of what is there', () => {
    const flowWrites = operations.filter(({ name, effect }) => name.startsWith('flow.') && effect !== 'read');
    expect(flowWrites.map(({ name }) => name).sort()).toEqual([
      'flow.import',
      'flow.mirror_propose',
      'flow.mirror_restore',
      'flow.propose',
      'flow.retire',
    ]);
  });

  it.each(['flow.propose', 'flow.import', 'flow.retire', 'proposal.comment', 'proposal.withdraw'])(
    '[S003-2-write-authority] lets everybody ask for %s: the scope decides, not the role',
    (name) => {
      for (const role of ROLES) {
        for (const kind of ['user', 'agent', 'local'] as const) {
          expect(() => authorise(named(name), callBy(kind, role))).not.toThrow();
        }
      }
    },
  );

  it.each<[string, Role[]]>([
    ['proposal.create', ['editor', 'evaluator', 'admin']],
    ['proposal.evaluate', ['evaluator', 'admin']],
    ['proposal.approve', ['evaluator', 'admin']],
    ['proposal.discard', ['admin']],
    ['policy.set', ['admin']],
    ['note.put', ['editor', 'admin']],
  ])('[FLR-people-decide] lets %s be asked for by %o', (name, roles) => {
    const decides = name !== 'proposal.create' && name !== 'note.put';
    for (const role of ROLES) {
      for (const kind of ['user', 'agent', 'local'] as const) {
        const act = expect(() => authorise(named(name), callBy(kind, role)), `${kind} ${role}`);
        if (roles.includes(role) && !(decides && kind === 'agent')) act.not.toThrow();
        else act.toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
      }
    }
  });
});

describe('[FLR-flowchart-roles] [FLR-people-decide] flowcharts and what belongs to them', () => {
  const ofFlowcharts = operations.filter(({ name }) => isOfFlowcharts(name));
  const MAY: Record<AnyOperation['effect'], Role[]> = {
    read: [...ROLES],
    write: ['editor', 'admin'],
    destructive: ['admin'],
  };

  it('are deleted by what says so, and by nothing else', () => {
    const deletes = ofFlowcharts.filter(({ effect }) => effect === 'destructive').map(({ name }) => name);
    expect(deletes).toEqual(ofFlowcharts.map(({ name }) => name).filter((name) => /delete$/.test(name)));
    expect(deletes).toHaveLength(10);
  });

  it.each(ofFlowcharts)('$name ($effect) is for the roles that may, person or agent', (operation) => {
    const isDelete = operation.effect === 'destructive';
    for (const role of ROLES) {
      for (const kind of ['user', 'agent', 'local'] as const) {
        const act = expect(() => authorise(operation, callBy(kind, role)), `${kind} ${role}`);
        if (MAY[operation.effect].includes(role) && !(isDelete && kind === 'agent')) act.not.toThrow();
        else act.toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
      }
    }
    if (isDelete) expect(operation.mcp).toBeUndefined();
  });
});

describe('[FLR-chatflow-roles] [FLR-people-decide] Flowise servers, their chatflows and what is known of them', () => {
  const EVERYBODY = [
    'server.list',
    'knowledge.status',
    'knowledge.node',
    'knowledge.nodes',
    'chatflow.list',
    'chatflow.get',
    'chatflow.validate',
    'chatflow.diff',
    'chatflow.history',
    'chatflow.export',
    'patch.compile',
  ];
  const ADMINS = ['server.add', 'server.default', 'server.remove'];
  const ofFlowise = operations.filter(({ name }) => isOfFlowise(name));
  const rolesFor = (name: string): readonly Role[] =>
    EVERYBODY.includes(name) ? ROLES : ADMINS.includes(name) ? ['admin'] : ['editor', 'admin'];

  it.each(ofFlowise)('$name is for the roles that may, person or agent', (operation) => {
    const isForPeople = ADMINS.includes(operation.name);
    for (const role of ROLES) {
      for (const kind of ['user', 'agent', 'local'] as const) {
        const act = expect(() => authorise(operation, callBy(kind, role)), `${kind} ${role}`);
        if (rolesFor(operation.name).includes(role) && !(isForPeople && kind === 'agent')) act.not.toThrow();
        else act.toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
      }
    }
    expect(operation.mcp === undefined).toBe(isForPeople);
  });
});

describe('the hash of an actor', () => {
  it('is SHA-256 of user, vault and issuer joined by bars', () => {
    expect(actorHash('anna', 'default')).toBe(actorHash('anna', 'default', 'flowright'));
    expect(actorHash('a', 'b', 'c')).toBe('a52dd81bfd5e4e66d96b9f598382f6cbf8c5c3897654e6ae9055e03620fcf38e');
  });

  it('differs by vault, so that one user cannot be followed from vault to vault', () => {
    expect(actorHash('anna', 'one')).not.toBe(actorHash('anna', 'two'));
  });
});
