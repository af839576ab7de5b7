export { checkCanvas } from './canvas.ts';
export {
  FIXTURES,
  recordedAgentflow,
  recordedChatflow,
  recordedCredentialTypes,
  recordedNodes,
  recordedTemplates,
  recordingsFolder,
} from './data.ts';
export type { Fault } from './faults.ts';
export type { ChatflowRow, CredentialRow, ToolRow } from './rows.ts';
export { type FakeFlowise, type FakeFlowiseOptions, startFakeFlowise } from './start.ts';
export { useFakeFlowise } from './use.ts';
