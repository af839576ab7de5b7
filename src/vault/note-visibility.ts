import type { Principal } from '../operations/index.ts';

/** Who may read a note that the server wrote: it shows a flow, and so follows what the flow allows. */
export interface NoteVisibility {
  /** Asked for every path in meta/flows/ and approvals/. What it denies does not exist for that principal. */
  mayRead(principal: Principal, path: string): Promise<boolean>;
}
