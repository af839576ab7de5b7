import { NodeFailure } from '../node-type.ts';

export function refMissing(memoryId: number): NodeFailure {
  return new NodeFailure('ref_missing', `There is no memory ${memoryId} any more. Give the node another one.`);
}
