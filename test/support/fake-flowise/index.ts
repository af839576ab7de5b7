export { checkCanvas } from './canvas.ts';
export { FIXTURES, recordedNodes, recordedTemplates } from './data.ts';
export type { Fault } from './faults.ts';
export { type FakeFlowise, type FakeFlowiseOptions, startFakeFlowise } from './start.ts';
export { useFakeFlowise } from './use.ts';
