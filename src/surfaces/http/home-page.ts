import type { FlowSummary } from '../../flows/index.ts';
import type { Principal } from '../../operations/index.ts';

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 52rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.6rem; margin-bottom: .25rem; }
  p.quiet { opacity: .75; margin-top: 0; }
  table { border-collapse: collapse; width: 100%; margin: 1.5rem 0; }
  caption { text-align: left; font-weight: 600; padding-bottom: .5rem; }
  th, td { text-align: left; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
  @media (max-width: 40rem) { td, th { display: block; border: 0; padding: 0 } tr { display: block; padding: .75rem 0; border-bottom: 1px solid #8884 } thead { display: none } code { overflow-wrap: anywhere } }
  code { background: #8882; padding: .1rem .35rem; border-radius: .25rem; }
`;

interface FlowPage {
  flows: readonly FlowSummary[];
  truncated: boolean;
}

/** The front page until the studio moves in: who you are, what you may see, where to go on. No script. */
export function homePage(principal: Principal, { flows, truncated }: FlowPage): string {
  const rows = flows
    .map(
      (flow) =>
        `<tr><td>${text(flow.title)}<br><code>${text(flow.flow_id)}</code></td><td>${text(flow.scope)}</td><td>${flow.step_count}</td><td>${text(flow.summary)}</td></tr>`,
    )
    .join('');
  const table = `<table><caption>Flows you may see</caption><thead><tr><th scope="col">Flow</th><th scope="col">Scope</th><th scope="col">Steps</th><th scope="col">What it is for</th></tr></thead><tbody>${rows}</tbody></table>`;
  return page(
    'Flowright',
    `<h1>Flowright</h1>
    <p class="quiet">Signed in as ${text(principal.user_id)}, ${principal.role} of vault ${text(principal.vault_id)}.</p>
    ${flows.length > 0 ? table : '<p>There are no flows in this vault yet.</p>'}
    ${truncated ? `<p>Only the newest ${flows.length} are shown.</p>` : ''}
    <p>In a terminal: <code>npx flowright flow get ${text(flows[0]?.flow_id ?? 'flow_id')}</code>. For programs: the
    <a href="/api/v1/openapi.json">API description</a> and MCP at <code>/mcp</code>.</p>`,
  );
}

export function messagePage(title: string, message: string): string {
  const body = text(message).replace(/`([^`]+)`/g, '<code>$1</code>');
  return page(title, `<h1>${text(title)}</h1><p>${body}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${text(title)}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`;
}

function text(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
