import { isAbsolute, resolve } from 'node:path';
import type { Config } from '../kernel/config.ts';
import { refusal } from '../kernel/errors.ts';
import { hideUrlPassword } from '../kernel/secrets.ts';
import { notImplemented, type PartReport, refreshed } from './refresh-report.ts';
import { type RefreshTarget, refreshListing } from './refresh-target.ts';
import { isWorkdayAction, type WorkdayAction } from './workday/action.ts';

export type WorkdayPart = 'workday_mcp' | 'workday_api';

/** Unconfigured it does nothing, says so and is no failure; configured it is filled from where the setting points. */
export async function refreshWorkday(target: RefreshTarget, part: WorkdayPart, config: Config): Promise<PartReport> {
  const source = sourceOf(part, config);
  if (!source) return notImplemented(part);
  const listed = await source.actions();
  if (listed.length === 0) {
    throw refusal(
      'CONFIG_INVALID',
      `${source.setting} leads to a list without any action. Check that it is the right one.`,
    );
  }
  const { settled, result } = await refreshListing<WorkdayAction>(target, {
    kind: part,
    listed,
    listedIn: source.listedIn,
    source: source.kind,
    source_host: source.host,
    flowise_version: null,
    idOf: ({ action }) => action,
    nameOf: ({ action }) => action,
    parse: (item) => (isWorkdayAction(item) ? item : null),
  });
  return refreshed(part, settled, result);
}

interface Source {
  setting: string;
  kind: string;
  listedIn: string;
  host: string | null;
  actions(): Promise<WorkdayAction[]>;
}

function sourceOf(part: WorkdayPart, config: Config): Source | null {
  if (part === 'workday_mcp') {
    const { workday_mcp_url: url, workday_mcp_token: token, flowise_timeout_seconds: seconds } = config;
    if (url === null) return null;
    const source = { url, token, timeoutMs: seconds * 1_000 };
    return {
      setting: 'workday_mcp_url',
      kind: 'mcp_tools_list',
      listedIn: 'tools/list',
      host: withoutQuery(url),
      actions: async () => (await import('./workday/from-mcp.ts')).actionsFromMcp(source),
    };
  }
  const { workday_api_spec: spec } = config;
  if (spec === null) return null;
  return {
    setting: 'workday_api_spec',
    kind: 'openapi',
    listedIn: 'the OpenAPI file',
    host: null,
    actions: async () =>
      (await import('./workday/from-openapi.ts')).actionsFromOpenApi(isAbsolute(spec) ? spec : resolve(spec)),
  };
}

function withoutQuery(url: string): string {
  return hideUrlPassword(url).split(/[?#]/, 1)[0] as string;
}
