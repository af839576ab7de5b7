/** One thing looked at: how it is, and what to do when it is not as it should be. */
export interface Finding {
  state: 'good' | 'warning' | 'wrong';
  what: string;
  fix?: string;
}
