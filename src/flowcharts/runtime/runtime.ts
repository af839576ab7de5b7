/** What the rest of the program may ask of the engine that walks runs. */
export interface Runtime {
  /** Something a run waits for has been committed: a control request, an answer, a new run. Never throws. */
  wake(runId: number): void;
  /** Resolves once this process has nothing more to do for the run: it ended, it is paused, or it waits for people. */
  settled(runId: number): Promise<void>;
  /** Calls the listener after each commit that concerns a run; returns how to stop. */
  onCommit(listener: (runId: number) => void): () => void;
}

/** The same to the process that has it. */
export interface RuntimeHost extends Runtime {
  /** Takes over what dead processes left, and looks for runs that others ask for. */
  start(): Promise<void>;
  /** Runs that this process walks, or will. */
  underWay(): readonly number[];
  /** Resolves once there are none. */
  idle(): Promise<void>;
  /** Lets go of every run; the next process finds them. */
  close(): Promise<void>;
}
