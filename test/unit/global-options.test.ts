import { describe, expect, it } from 'vitest';
import { commandWords, GLOBAL_OPTIONS, settingsSource } from '../../src/surfaces/cli/global-options.ts';

describe('the first word of a command line', () => {
  it.each([
    [['flow', 'list'], 'flow'],
    [['--json', 'flow', 'list'], 'flow'],
    [['--vault', 'team', 'flow', 'list'], 'flow'],
    [['--vault=team', 'flow', 'list'], 'flow'],
    [['--home', '/tmp/x', '--yes', '--hub', 'http://h', 'token', 'create'], 'token'],
    [['--vault', 'flow', 'token'], 'token'],
    [['--unknown', 'flow'], 'flow'],
  ])('of %j is %s', (argv, word) => {
    expect(commandWords(argv)[0]).toBe(word);
  });

  it.each([[[]], [['--help']], [['--vault']], [['--vault', 'team']]])('of %j is none', (argv) => {
    expect(commandWords(argv)).toEqual([]);
  });

  it.each(GLOBAL_OPTIONS.map((option) => ({ flag: option.long ?? '', takesValue: option.required })))(
    'knows whether $flag is followed by a value',
    ({ flag, takesValue }) => {
      expect(commandWords([flag, 'next', 'flow'])[0]).toBe(takesValue ? 'flow' : 'next');
    },
  );
});

describe('[FLR-config-layers] global options as settings', () => {
  const environment = { FLOWRIGHT_VAULT: 'from-environment' };

  it('give vault and hub as flags, and the home apart', () => {
    expect(settingsSource({ vault: 'team', hub: 'http://h', home: '/data' }, environment)).toEqual({
      home: '/data',
      flags: { vault: 'team', hub_url: 'http://h' },
      environment,
    });
  });

  it('give no flag for what was not said', () => {
    expect(settingsSource({ json: true, yes: true, requestId: 'r' }, environment)).toEqual({
      home: undefined,
      flags: {},
      environment,
    });
  });

  it('have none that grants a scope', () => {
    expect(GLOBAL_OPTIONS.map(({ long }) => long)).toEqual([
      '--json',
      '--vault',
      '--hub',
      '--home',
      '--request-id',
      '--yes',
    ]);
  });
});
