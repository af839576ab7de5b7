import type { ListResourcesResult, McpServer, Resource } from '@modelcontextprotocol/server';
import {
  type Skill,
  SkillCatalogError,
  type SkillSource,
  SkillsExtension,
  skillEntry,
} from '@modelcontextprotocol/server/ext/skills';
import type { App } from '../../app.ts';
import type { Flow, FlowBundle } from '../../flows/index.ts';
import { FlowrightError } from '../../kernel/errors.ts';
import { flowIdOf, inertWords, projectFlow, skillNameOf } from '../../projection/index.ts';
import { type ResolvePrincipal, refusingInMcp, servedPage } from './served-flows.ts';

const BASE_URI = 'skill://flows';
const SKILL_URI_RE = /^skill:\/\/flows\/([a-z0-9-]{1,64})\/SKILL\.md$/;
const MARKDOWN = 'text/markdown';

/**
 * Every flow the caller may see, in its latest version, as an Agent Skill (MCP's Skills extension, SEP-2640). Nothing is
 * kept between requests: each one resolves anew who asks and what that may see.
 */
export function serveSkills(mcp: McpServer, app: App, resolve: ResolvePrincipal): void {
  mcp.server.registerCapabilities({ resources: { listChanged: false } });
  new SkillsExtension({
    source: skillSource(app, resolve),
    baseUri: BASE_URI,
    onWarning: ({ path, message }) => app.services.log.warn({ path, reason: message }, `skill ${path}: ${message}`),
  }).attach(mcp);
  // The extension's own listing has no pages; this one also serves clients that know resources and no skills.
  mcp.server.setRequestHandler('resources/list', (request) =>
    refusingInMcp(app, async (): Promise<ListResourcesResult> => {
      const { items, ...rest } = await servedPage(resolve, request.params?.cursor, (principal, input) =>
        app.services.flows.page(principal, input),
      );
      return { resources: items.flatMap((flow) => resourceOf(flow) ?? []), ...rest };
    }),
  );
}

function skillSource(app: App, resolve: ResolvePrincipal): SkillSource {
  const find = async (uri: string): Promise<FlowBundle | undefined> => {
    const flow_id = flowIdOf(SKILL_URI_RE.exec(uri)?.[1] ?? '');
    if (flow_id === null || skillNameOf(flow_id) === null) return undefined;
    const principal = await resolve(undefined);
    try {
      return await app.services.flows.get(principal, { flow_id });
    } catch (thrown) {
      if (thrown instanceof FlowrightError && thrown.code === 'unknown_flow') return undefined;
      throw thrown;
    }
  };
  return {
    list: ({ cursor }) =>
      refusingInMcp(app, async () => {
        const { items, ...rest } = await servedPage(resolve, cursor, (principal, input) =>
          app.services.flows.pageWithSteps(principal, input),
        );
        const skills = await Promise.all(items.map((bundle) => listedSkill(app, bundle)));
        return { skills: skills.filter((skill) => skill !== undefined), ...rest };
      }),
    get: (uri) =>
      refusingInMcp(app, async () => {
        const bundle = await find(uri);
        return bundle && skillOf(bundle);
      }),
    read: (uri) =>
      refusingInMcp(app, async () => {
        const bundle = await find(uri);
        return bundle && { text: manifestOf(bundle), mimeType: MARKDOWN };
      }),
  };
}

/** A flow whose id makes no legal name is no skill; one that breaks a rule we do not know must not hide the others. */
async function listedSkill(app: App, bundle: FlowBundle): Promise<Skill | undefined> {
  if (skillNameOf(bundle.flow.flow_id) === null) return undefined;
  try {
    return await skillOf(bundle);
  } catch (error) {
    if (!(error instanceof SkillCatalogError)) throw error;
    app.services.log.warn({ flow_id: bundle.flow.flow_id, reason: error.message }, 'a flow is not served as a skill');
    return undefined;
  }
}

/** The entry with the digest of the very text that is read. */
function skillOf(bundle: FlowBundle): Promise<Skill> {
  const name = skillNameOf(bundle.flow.flow_id) ?? '';
  return skillEntry(name, { 'SKILL.md': manifestOf(bundle) }, { baseUri: BASE_URI });
}

function manifestOf({ flow, steps }: FlowBundle): string {
  return projectFlow(flow, steps, 'cursor_skill').rendered;
}

function resourceOf(flow: Flow): Resource | undefined {
  const name = skillNameOf(flow.flow_id);
  if (name === null) return undefined;
  return {
    uri: `${BASE_URI}/${name}/SKILL.md`,
    name,
    title: inertWords(flow.title),
    description: inertWords(flow.summary) || inertWords(flow.title),
    mimeType: MARKDOWN,
  };
}
