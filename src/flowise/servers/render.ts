import type * as z from 'zod';
import { inertLine, textTable } from '../../kernel/terminal.ts';
import type { ServerAddedResponse, ServerListResponse, ServerTestResponse } from './answers.ts';
import { hasPermissions } from './try-server.ts';

const AUTH_WORDS = { none: 'nothing', key: 'API key', basic: 'name and password' } as const;

export function serverTable({ items }: z.output<typeof ServerListResponse>): string {
  if (items.length === 0) {
    return '(no Flowise servers)\nAdd one with: flowright server add NAME --url http://127.0.0.1:3000';
  }
  return textTable(
    ['NAME', 'ASKED WITH', 'FROM', 'MEANT', 'ADDRESS'],
    items.map(({ name, url, auth, origin, is_default }) => [
      name,
      AUTH_WORDS[auth],
      origin,
      is_default ? 'yes' : '',
      url,
    ]),
  );
}

export function addedLines({ item, replaced, secret_kept }: z.output<typeof ServerAddedResponse>): string {
  const meant = item.is_default ? ' It is meant when none is named.' : '';
  const kept = secret_kept ? ', the one that is stored' : '';
  return [
    `Flowise server ${item.name} (${item.url}) is ${replaced ? 'replaced' : 'added'}; it is asked with ${AUTH_WORDS[item.auth]}${kept}.${meant}`,
    '',
    'Next:',
    `  flowright server test ${item.name}`,
    `  flowright knowledge refresh --all --from-api --server ${item.name}`,
  ].join('\n');
}

export function trialCard(trial: z.output<typeof ServerTestResponse>): string {
  const { name, url, flowise_version, checks, findings, ok } = trial;
  const version = flowise_version === null ? '' : `, Flowise ${flowise_version}`;
  const rows = checks.map((check) => [
    check.check,
    check.kind,
    check.permission ?? '',
    check.ok ? 'works' : check.needed ? 'fails' : 'fails, not needed',
    check.count === null ? '' : String(check.count),
    check.ok ? '' : (check.code ?? ''),
  ]);
  const news = ok ? ['Everything that was tried works.'] : findings.map((finding) => `- ${inertLine(finding)}`);
  return [
    `${name} (${inertLine(url)})${version}`,
    '',
    textTable(['TRIED', 'KIND', 'PERMISSION', 'RESULT', 'FOUND', 'CODE'], rows),
    '',
    ...untriedWrites(trial),
    ...news,
  ].join('\n');
}

/** Why nothing is said about writing, where reading works. */
function untriedWrites({ ok, writes_tried, flowise_version }: z.output<typeof ServerTestResponse>): string[] {
  if (writes_tried || !ok) return [];
  if (flowise_version === null) return ['Writing was not tried: the server does not tell its version.'];
  return hasPermissions(flowise_version) ? [] : ['Writing was not tried: this Flowise lets every key write.'];
}
