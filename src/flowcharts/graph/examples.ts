import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../home/index.ts';

export const EXAMPLES_DIRNAME = 'examples/flowcharts';

/** A flowchart that comes with the program: what `flowchart import` takes. */
export interface Example {
  /** Name of its file without the ending. */
  name: string;
  file: Record<string, unknown>;
}

/** The examples in name order; none when they were not shipped. */
export function loadExamples(folder = join(packageRoot(), EXAMPLES_DIRNAME)): Example[] {
  return exampleFiles(folder).map((file) => ({
    name: file.replace(/\.json$/, ''),
    file: JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, unknown>,
  }));
}

function exampleFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .sort();
  } catch {
    return [];
  }
}
