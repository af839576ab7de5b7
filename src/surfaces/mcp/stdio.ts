import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { App } from '../../app.ts';
import { createMcpServer } from './server.ts';
import { operationTools } from './tools.ts';

/** Serves the local identity, as an agent, until the client closes its end. */
export async function serveMcpStdio(app: App): Promise<void> {
  const tools = operationTools(await app.catalogue.all());
  const { config } = app.settings;
  const resolve = (vaultId: string | undefined) =>
    app.principals.local({
      identity: config.identity,
      vaultId: vaultId ?? config.vault,
      narrowTo: config['flow.visible_scopes'],
      agent: true,
    });
  const ended = new Promise<void>((finish) => {
    process.stdin.once('end', finish);
    process.stdin.once('close', finish);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => finish());
  });
  const server = serveStdio(() => createMcpServer(app, tools, resolve), {
    onerror: (error) => app.services.log.warn({}, `MCP: ${error.message}`),
  });
  await app.services.runtime.start();
  await ended;
  await server.close();
}
