import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod';
import { refusal } from '../kernel/errors.ts';
import type { Gates } from '../kernel/gates.ts';
import { POLICY_FILES, type PolicyState, type PolicyText, resolvePolicy, unknownPolicyKeys } from './resolve.ts';
import { DEFAULT_RUBRIC, RUBRIC_FILE, type RubricItem, RubricSchema } from './rubric.ts';
import { NO_TRIGGERS, TRIGGERS_FILE, type Triggers, TriggersSchema } from './triggers.ts';

type Read<T> = { value: T } | { damaged: string };

/** The hub's policies, read from their files whenever they are asked for: a change holds at once, in every process. */
export class Policy {
  readonly #folder: string;
  readonly #gates: Gates;

  constructor(folder: string, gates: Gates) {
    this.#folder = folder;
    this.#gates = gates;
  }

  state(): PolicyState {
    return resolvePolicy(this.#gates, Object.fromEntries(POLICY_FILES.map((file) => [file, this.text(file)])));
  }

  values(): PolicyState['values'] {
    return this.state().values;
  }

  text(file: string): PolicyText {
    try {
      return readFileSync(join(this.#folder, file), 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' ? null : { unreadable: `it cannot be read (${code})` };
    }
  }

  triggers(): Read<Triggers> {
    return this.#parsed(TRIGGERS_FILE, TriggersSchema, NO_TRIGGERS);
  }

  rubric(): RubricItem[] {
    const read = this.#parsed(RUBRIC_FILE, RubricSchema, { items: DEFAULT_RUBRIC });
    if ('value' in read) return read.value.items;
    throw refusal('POLICY_FILE_DAMAGED', `${RUBRIC_FILE} in the data folder cannot be used: ${read.damaged}.`);
  }

  /** Every file that is there but cannot be used, with the reason. */
  damaged(): { file: string; reason: string }[] {
    const found = [...this.state().damaged];
    for (const [file, schema] of [
      [TRIGGERS_FILE, TriggersSchema],
      [RUBRIC_FILE, RubricSchema],
    ] as const) {
      const read = this.#parsed<unknown>(file, schema, null);
      if ('damaged' in read) found.push({ file, reason: read.damaged });
    }
    return found;
  }

  /** Keys in the policy files that mean nothing here. */
  unknownKeys(): { file: string; key: string }[] {
    return POLICY_FILES.flatMap((file) => unknownPolicyKeys(file, this.text(file)).map((key) => ({ file, key })));
  }

  #parsed<T>(file: string, schema: z.ZodType<T>, fallback: T): Read<T> {
    const text = this.text(file);
    if (text === null) return { value: fallback };
    if (typeof text === 'object') return { damaged: text.unreadable };
    try {
      const parsed = schema.safeParse(JSON.parse(text));
      if (parsed.success) return { value: parsed.data };
      const [issue] = parsed.error.issues;
      return { damaged: `${issue?.path.join('.') || 'it'}: ${issue?.message}` };
    } catch (error) {
      return { damaged: `it is not valid JSON (${(error as Error).message})` };
    }
  }
}
