import type { RunEnd } from './end-run.ts';
import type { NewRun } from './new-run.ts';
import type { RunEvent } from './run-events.ts';
import type { CompletedNode, FailedNode, FiredNode, WaitingNode } from './step.ts';

/** A step that is being put together. */
export interface Draft {
  completed: CompletedNode[];
  fired: FiredNode[];
  waiting: WaitingNode[];
  failed: FailedNode[];
  end: RunEnd | null;
  followUp: NewRun | null;
  warnings: RunEvent[];
}

export function emptyDraft(): Draft {
  return {
    completed: [],
    fired: [],
    waiting: [],
    failed: [],
    end: null,
    followUp: null,
    warnings: [],
  };
}

export function sizeOf(draft: Draft): number {
  return draft.completed.length + draft.fired.length + draft.waiting.length + draft.failed.length;
}
