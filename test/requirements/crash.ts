/** The engine under kill, stop, load and length. */
export const CRASH_REQUIREMENTS: Record<string, string> = {
  'FLR-crash-run': 'A run whose process is killed again and again completes, with every effect exactly once',
  'FLR-crash-no-second-call': 'A node run that is completed is never executed again, whoever walks the run next',
  'FLR-crash-recovery-at-once': 'What a killed process left is taken up at once, not after a time-out',
  'FLR-stopped-keeps-its-run': 'A process that is slow or stopped keeps its runs for as long as it lives',
  'FLR-fenced': 'Whoever has lost a run can commit nothing more for it',
  'FLR-database-fault': 'A database that does not answer delays a run; it neither fails it nor doubles an effect',
  'FLR-connections-lost': 'A run survives that the server drops every connection of its process',
  'FLR-presence-renewed': 'A process that lost its session announces itself again',
  'FLR-many-runs': 'Hundreds of runs at once end in one process, whose memory does not grow with them',
  'FLR-wide-fan-out': 'Five hundred branches start from one node and join in one',
  'FLR-shared-queue': 'Processes that share the queue never walk the same run',
  'FLR-run-cost-linear': 'The cost of a node does not grow with the length of its run',
  'FLR-run-bytes-linear': 'Stored bytes and the input context of a node do not grow with the length of its run',
  'FLR-first-node-at-once': 'The first node starts within 20 ms of the request on an idle hub',
};
