import { describe, expect, it } from 'vitest';
import { REQUIREMENTS } from '../requirements.ts';
import { sourceFiles } from './source-files.ts';

const CITATION = /\[((?:S\d{3}|FLR)-[^\]\s]+)\]/g;
const SELF = 'test/unit/requirements.test.ts';

/** Comments prove nothing. */
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

const citations = sourceFiles('test')
  .filter(({ path }) => path.endsWith('.test.ts') && path !== SELF)
  .flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(CITATION)].map(([, id]) => ({ id: id as string, path })),
  );

describe('the rules of the contract', () => {
  it('are found where tests cite them', () => {
    expect(citations).toContainEqual({ id: 'S002-1.1-constants', path: 'test/unit/flow-constants.test.ts' });
  });

  it('are the only thing that tests cite', () => {
    expect(citations.filter(({ id }) => !Object.hasOwn(REQUIREMENTS, id))).toEqual([]);
  });

  it('are each cited by a test', () => {
    const cited = new Set(citations.map(({ id }) => id));
    expect(Object.keys(REQUIREMENTS).filter((id) => !cited.has(id))).toEqual([]);
  });
});
