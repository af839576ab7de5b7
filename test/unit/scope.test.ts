import { describe, expect, it } from 'vitest';
import { FlowrightError } from '../../src/kernel/errors.ts';
import {
  isScope,
  LOWEST_SCOPES,
  narrowScopes,
  ROLES,
  resolveVisibleScopes,
  SCOPES,
  type Scope,
} from '../../src/operations/index.ts';

const visible = (membership: Parameters<typeof resolveVisibleScopes>[0]) => [...resolveVisibleScopes(membership)];

describe('[S002-4-authorisation] the scopes of a membership', () => {
  it.each([
    ['viewer', ['personal']],
    ['evaluator', ['personal', 'project']],
    ['editor', ['personal', 'project']],
    ['admin', ['personal', 'project', 'org']],
  ] as const)('are by role: %s', (role, scopes) => {
    expect(visible({ role, scopes: null, ambiguous: false })).toEqual(scopes);
  });

  it('are its own where it names some, in place of the role’s', () => {
    expect(visible({ role: 'viewer', scopes: ['personal', 'org'], ambiguous: false })).toEqual(['personal', 'org']);
    expect(visible({ role: 'admin', scopes: ['personal'], ambiguous: false })).toEqual(['personal']);
  });

  it('are the role’s where it names none that exists', () => {
    expect(visible({ role: 'viewer', scopes: [], ambiguous: false })).toEqual(['personal']);
    expect(visible({ role: 'viewer', scopes: ['galaxy' as Scope], ambiguous: false })).toEqual(['personal']);
  });

  it.each(ROLES)('[S002-4-deny-by-default] are the lowest for an ambiguous %s', (role) => {
    expect(visible({ role, scopes: [...SCOPES], ambiguous: true })).toEqual(['personal']);
  });

  it('are only personal where none are given', () => {
    expect([...LOWEST_SCOPES]).toEqual(['personal']);
  });
});

describe('a requested scope', () => {
  it('left out reads all that is held and reports the highest', () => {
    expect(narrowScopes(new Set(['org', 'personal']), undefined)).toEqual({
      filter: ['personal', 'org'],
      effective: 'org',
    });
    expect(narrowScopes(new Set(['project', 'personal']), undefined).effective).toBe('project');
  });

  it.each(SCOPES)('%s narrows to exactly itself', (scope) => {
    expect(narrowScopes(new Set(SCOPES), scope)).toEqual({ filter: [scope], effective: scope });
  });

  it.each(['project', 'org'] as const)('[S002-4-denied] %s is refused where it is not held', (scope) => {
    const ask = () => narrowScopes(LOWEST_SCOPES, scope);
    expect(ask).toThrow(FlowrightError);
    expect(ask).toThrow(expect.objectContaining({ code: 'FLOW_SCOPE_DENIED', status: 403 }));
  });

  it('sees nothing when nothing is held', () => {
    expect(narrowScopes(new Set(), undefined)).toEqual({ filter: [], effective: 'personal' });
  });
});

describe('a scope', () => {
  it.each([...SCOPES])('is the word %s', (word) => {
    expect(isScope(word)).toBe(true);
  });

  it.each(['', 'Personal', 'galaxy', null, undefined, 0, ['personal']])('is not %j', (word) => {
    expect(isScope(word)).toBe(false);
  });
});
