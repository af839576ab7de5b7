import { type FlowrightError, refusal } from '../kernel/errors.ts';

const SHORT = 12;
const short = (hash: string | null): string => hash?.slice(0, SHORT) ?? 'nothing';

/** The chatflow is not what the change is based on. Nobody's work is overwritten. */
export function conflict(chatflowId: string, base: string | null, current: string | null): FlowrightError {
  const what = current === null ? 'is no longer on the server' : 'was changed on the server since';
  return refusal(
    'chatflow_conflict',
    `Chatflow ${chatflowId} ${what} (based on ${short(base)}, now ${short(current)}). Nothing was written. Look with \`flowright chatflow diff ${chatflowId}\`, then compile again.`,
    { base_hash: base, current_hash: current },
  );
}
