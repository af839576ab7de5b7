import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Finished } from './program.ts';
import { flowright, type ProgramOptions } from './program.ts';

/** What `flow edit` opens. */
export interface EditDocument {
  intent: string;
  flow: Record<string, unknown> & { version: string; title: string };
  steps: (Record<string, unknown> & { step: number; inputs: { name: string; from: string }[] })[];
}

/** A desk for `flow edit`: a temporary folder of its own, and editors that are plain programs. */
export interface Desk {
  /** Runs `flow edit` with an editor. */
  edit(flowId: string, editor: string, ...more: string[]): Promise<Finished>;
  /** What the editor is shown; nothing comes of it. */
  opens(flowId: string): Promise<string>;
  /** An editor that saves the given text. */
  saving(text: string): string;
  /** An editor that saves the flow, changed. */
  changing(flowId: string, change: (document: EditDocument) => void): Promise<string>;
  /** An editor that is a shell script; it gets the file as $1. */
  script(name: string, lines: string): string;
  /** What lies in the temporary folder. */
  leftovers(): string[];
  /** The draft that a refusal says is kept. */
  keptIn(stderr: string): string;
}

export function setDesk(folder: string, options: ProgramOptions): Desk {
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  let count = 0;
  const path = (name: string) => join(folder, `${String(++count)}-${name}`);
  const script = (name: string, lines: string): string => {
    const file = path(name);
    writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
    return file;
  };
  const saving = (text: string): string => {
    const file = path('wanted.yaml');
    writeFileSync(file, text);
    return `cp '${file}'`;
  };
  const edit = (flowId: string, editor: string, ...more: string[]): Promise<Finished> =>
    flowright(['flow', 'edit', flowId, ...more], {
      ...options,
      env: { ...options.env, TMPDIR: temporary, VISUAL: '', EDITOR: editor },
    });
  const opens = async (flowId: string): Promise<string> => {
    const seen = path('seen.yaml');
    const { status, stderr } = await edit(flowId, script('look.sh', `cp "$1" '${seen}'`));
    if (status !== 0) throw new Error(`flow edit ended with ${status}: ${stderr}`);
    return readFileSync(seen, 'utf8');
  };
  return {
    edit,
    opens,
    saving,
    script,
    changing: async (flowId, change) => {
      const text = await opens(flowId);
      const [header] = /^(#.*\n)*/.exec(text) ?? [''];
      const document = parse(text) as EditDocument;
      document.intent = 'Made better';
      change(document);
      return saving(header + stringify(document, { aliasDuplicateObjects: false }));
    },
    leftovers: () => readdirSync(temporary, { recursive: true }).map(String),
    keptIn: (stderr) => {
      const [, file] = /--draft ([^\s`]+)/.exec(stderr) ?? [];
      if (!file) throw new Error(`no draft is named: ${stderr}`);
      return file;
    },
  };
}
