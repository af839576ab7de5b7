/** Environment words that decide a policy before its file is asked. */
export const GATE_VARIABLES = [
  'FLOW_AUTHORING_WRITES',
  'FLOW_AUTHORING_FORBIDDEN',
  'HUB_PROPOSAL_EVALUATION_REQUIRED',
  'HUB_EVALUATOR_MAY_APPROVE',
] as const;

export type GateVariable = (typeof GATE_VARIABLES)[number];
export type Gates = Partial<Record<GateVariable, boolean>>;

/** "1" and "true" open, "0" and "false" close; any other word decides nothing. */
export function readGates(environment: Record<string, string | undefined>): Gates {
  const gates: Gates = {};
  for (const variable of GATE_VARIABLES) {
    const word = environment[variable];
    if (word === '1' || word === 'true') gates[variable] = true;
    if (word === '0' || word === 'false') gates[variable] = false;
  }
  return gates;
}
