import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { createCatalogue } from '../../../rooms.ts';
import { openApiDocument } from '../../http/openapi.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['openapi'])
    .option('--out <file>', 'write to a file instead of the terminal')
    .description('Write the OpenAPI document of every route, as YAML')
    .action(async (options: { out?: string }) => {
      const document = openApiDocument(await createCatalogue().all());
      const text = cli.options().json ? JSON.stringify(document) : openApiYaml(document);
      if (options.out) writeFileSync(options.out, text);
      else cli.print(text.trimEnd());
    });
}

export function openApiYaml(document: Record<string, unknown>): string {
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
}
