import { createInterface } from 'node:readline';
import { baseOf, openReview, type Proposed } from '../data-integrity/review.ts';
import { sampleFlow } from '../support/flows.ts';

/**
 * A process that edits one flow many times at once. It says `ready`, and at each line it is given it does the next
 * round: `both` proposes and approves each edit without waiting for the others; `propose` and `approve` do the one for
 * all edits and then the other. Prints the codes of what happened, one list a line.
 */
const [databaseUrl, home, name, edits] = process.argv.slice(2) as [string, string, string, string];
const review = await openReview({ home, databaseUrl: databaseUrl || undefined });
const numbers = Array.from({ length: Number(edits) }, (_, at) => Number(name) * Number(edits) + at + 1);
const bases = new Map([
  ['flow_both', await baseOf(review, 'flow_both')],
  ['flow_phased', await baseOf(review, 'flow_phased')],
]);

const codeOf = (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
const propose = (flowId: string, n: number): Promise<Proposed> =>
  review.propose({ ...sampleFlow(flowId, { version: `1.0.${n}`, instruction: `Edit ${n}.` }), ...bases.get(flowId) });

const proposed: Proposed[] = [];
const rounds: Record<string, () => Promise<string[]>> = {
  both: () =>
    Promise.all(
      numbers.map((n) => codeOf(propose('flow_both', n).then(({ proposal_id }) => review.approve(proposal_id)))),
    ),
  propose: () =>
    Promise.all(numbers.map((n) => codeOf(propose('flow_phased', n).then((proposal) => proposed.push(proposal))))),
  approve: () => Promise.all(proposed.map(({ proposal_id }) => codeOf(review.approve(proposal_id)))),
};

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await rounds[line]?.())}\n`);
}
await review.close();
