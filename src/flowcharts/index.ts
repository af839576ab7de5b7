export { loadExamples } from './graph/examples.ts';
export { duration, nodeName, warningText } from './history/render.ts';
export { FlowchartRun, flowchartRun, isTerminal, NodeRun } from './history/run-record.ts';
export { type RunStatusPayload, waitingLine } from './history/run-status.ts';
export { EventFeed, type FeedNeeds, type Listener } from './realtime/feed.ts';
export { type FlowchartEvent, hydrateEvents, type Published, runStream } from './realtime/hydrate-event.ts';
export type { Runtime, RuntimeHost } from './runtime/runtime.ts';
export { sweepKeys, sweepRuns } from './runtime/sweep-runs.ts';
