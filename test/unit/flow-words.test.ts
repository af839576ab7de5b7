import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/flows/flow-words.ts';

describe('the words of a text', () => {
  it.each([
    ['Overseer handover', ['overseer', 'handover']],
    ['Crème brûlée, STRAẞE!', ['creme', 'brulee', 'straße']],
    ['flow_capture_to_note#1', ['flow', 'capture', 'to', 'note', '1']],
    ['ﬁle ２', ['file', '2']],
    ['世界 мир', ['世界', 'мир']],
    ['"a" OR b* NEAR(c) -d:e', ['a', 'or', 'b', 'near', 'c', 'd', 'e']],
    ['  \n\u0000 ', []],
    ['😀 !!!', []],
  ])('of %j are %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });
});
