export type { Runtime } from './runtime/runtime.ts';
