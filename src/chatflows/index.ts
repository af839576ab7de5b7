export type { ChatflowNeeds } from './needs.ts';
export { sweepChatflows } from './sweep.ts';
