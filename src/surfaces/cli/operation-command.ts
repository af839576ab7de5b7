import { type Command, Option } from 'commander';
import type * as z from 'zod';
import { type AnyOperation, baseType, decodeText, unwrap } from '../../operations/index.ts';
import type { Cli } from './run.ts';

/** Adds a command for an operation; its arguments and options are the fields of the input schema. */
export function addOperationCommand(program: Command, operation: AnyOperation, cli: Cli): void {
  if (!operation.cli || operation.cli.byHand) return;
  const words = operation.cli.command.split(' ');
  const path = words.filter((word) => !/^[<[]/.test(word));
  const positional = words.filter((word) => /^[<[]/.test(word)).map((word) => word.replace(/[<>[\]]/g, ''));
  const command = descend(program, path).description(operation.summary);
  const shape = (operation.input as z.ZodObject).shape;
  for (const key of positional) {
    const isOptional = words.includes(`[${key}]`);
    command.argument(isOptional ? `[${key}]` : `<${key}>`, describe(shape[key]));
  }
  for (const [key, field] of Object.entries(shape)) {
    if (!positional.includes(key)) command.addOption(optionFor(key, field as z.ZodType));
  }
  const examples = operation.cli.examples ?? [];
  if (examples.length > 0)
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
  command.action(async (...received: unknown[]) => {
    cli.word({ fields: fieldNames(Object.keys(shape), positional) });
    const texts: Record<string, unknown> = {};
    positional.forEach((key, at) => {
      if (received[at] !== undefined) texts[key] = received[at];
    });
    const options = received[positional.length] as Record<string, unknown>;
    for (const key of Object.keys(shape)) {
      const given = options[camel(key)];
      if (given !== undefined && !positional.includes(key)) texts[key] = given;
    }
    await cli.call(operation, decodeText(operation.input, texts));
  });
}

/** What somebody who types the command calls each field. */
function fieldNames(keys: readonly string[], positional: readonly string[]): Record<string, string> {
  const nameOf = (key: string) => (positional.includes(key) ? `<${key}>` : `--${key.replaceAll('_', '-')}`);
  return Object.fromEntries(keys.map((key) => [key, nameOf(key)]));
}

/** The command at a path of words, made where it is missing. */
export function descend(program: Command, path: readonly string[]): Command {
  let current = program;
  for (const word of path) {
    current =
      current.commands.find((candidate) => candidate.name() === word) ?? current.command(word).helpCommand(false);
  }
  return current;
}

function optionFor(key: string, field: z.ZodType): Option {
  const name = key.replaceAll('_', '-');
  const type = baseType(field);
  const required = field._zod.optin === undefined;
  const text = describe(field) + (required ? ' (required)' : '');
  if (type === 'boolean') {
    const isOnByDefault = (field._zod.def as { defaultValue?: unknown }).defaultValue === true;
    return new Option(isOnByDefault ? `--no-${name}` : `--${name}`, text).default(undefined);
  }
  const base = unwrap(field);
  const values = type === 'enum' ? (base as z.ZodEnum).options.join('|') : valueName(type);
  return new Option(`--${name} <${values}>`, text);
}

function valueName(type: string | undefined): string {
  if (type === 'number') return 'number';
  return type === 'array' ? 'a,b' : 'text';
}

function describe(field: unknown): string {
  return (field as z.ZodType).description ?? unwrap(field)?.description ?? '';
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
