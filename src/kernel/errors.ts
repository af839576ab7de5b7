/**
 * The closed catalogue of errors. A code, once shipped, keeps its meaning and its HTTP status; docs/errors.md lists
 * each one, and a test compares the two and pins the count.
 *
 * Codes are upper case except where the contract writes them in lower case (`unknown_flow`).
 */
export const ERRORS = {
  BAD_REQUEST: { status: 400, next: 'Correct the named fields and send the request again.' },
  USAGE_ERROR: { status: 400, next: 'Run the command with --help to see its arguments.' },
  FLOW_SCOPE_AMBIGUOUS: { status: 400, next: 'Ask an admin of the vault to settle your membership.' },
  FLOW_DRAFT_INVALID: { status: 400, next: 'Correct every place listed in details.errors and propose again.' },
  FLOW_IMPORT_BUNDLE_MALFORMED: {
    status: 400,
    next: 'Export the flow again, or correct the places in details.errors.',
  },
  FLOW_HARNESS_UNSUPPORTED: { status: 400, next: 'Use cursor_rule, cursor_skill, cli_runbook or mcp_prompt.' },
  FLOWCHART_INVALID: {
    status: 400,
    next: 'Mend every place in details.errors; `flowright flowchart validate` lists them.',
  },
  PATCH_INVALID: {
    status: 400,
    next: 'Mend every place in details.errors; `flowright patch compile` tries it without writing.',
  },
  FLOWISE_SERVER_UNKNOWN: {
    status: 400,
    next: 'Name one of `flowright server list`, or add one with `flowright server add`.',
  },
  CREDENTIAL_AMBIGUOUS: { status: 400, next: 'Name one of the credentials in details.choices.' },
  UNAUTHORIZED: { status: 401, next: 'Send a valid bearer token, or sign in again.' },
  FORBIDDEN: { status: 403, next: 'Ask an admin of the vault for a role that may do this.' },
  FLOW_SCOPE_DENIED: { status: 403, next: 'Leave the scope out, or name one you hold.' },
  FLOW_IMPORT_SCOPE_DENIED: { status: 403, next: 'Import into a scope that you may write, or ask an admin to import.' },
  FLOW_IMPORT_EXTERNAL_TOOL_DENIED: { status: 403, next: 'Remove the external tools, or ask an admin to allow them.' },
  FLOW_IMPORT_AUTOMATABLE_DENIED: {
    status: 403,
    next: 'Make every step manual, or ask an admin to change the policy.',
  },
  FLOW_AUTHORING_DISABLED: {
    status: 403,
    next: 'An admin opens it with `flowright policy set flow_authoring_writes_enabled true`.',
  },
  FLOW_AUTHORING_POLICY_FORBIDDEN: { status: 403, next: 'Ask an admin; `flowright policy show` says what is allowed.' },
  EVALUATION_REQUIRED: {
    status: 403,
    next: 'Have it evaluated with `flowright proposal evaluate`, or let an admin waive that with a reason.',
  },
  FOUR_EYES_REQUIRED: { status: 403, next: 'Ask somebody else who may approve in this vault.' },
  approval_required: {
    status: 403,
    next: 'Ask a person to apply it; an admin may set flowise_agent_writes to allow agents.',
  },
  HOST_NOT_ALLOWED: { status: 403, next: 'Use the address the hub prints, or add the name to allowed_hosts.' },
  ORIGIN_NOT_ALLOWED: { status: 403, next: 'Call from the hub itself, or add the origin to allowed_origins.' },
  NOT_FOUND: { status: 404, next: 'Check the name; what you may not see answers the same.' },
  unknown_flow: { status: 404, next: 'List the flows you may see, then use one of their ids.' },
  METHOD_NOT_ALLOWED: { status: 405, next: 'Use a method that the OpenAPI document lists for this path.' },
  CONFLICT: { status: 409, next: 'Read the current state, then decide again.' },
  FLOW_LINEAGE_CONFLICT: { status: 409, next: 'Read the flow as it is now, repeat your edit on it and propose again.' },
  graph_conflict: { status: 409, next: 'Read the graph as it is now, repeat your change on it and save again.' },
  chatflow_conflict: {
    status: 409,
    next: 'Read the chatflow as it is now, repeat your change on it and compile again.',
  },
  payload_mismatch: { status: 409, next: 'Compile again, look at the result, and apply that.' },
  PAYLOAD_TOO_LARGE: { status: 413, next: 'Send less at once.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, next: 'Send application/json.' },
  RATE_LIMIT: { status: 429, next: 'Wait for the time given in Retry-After.' },
  CONFIRMATION_REQUIRED: { status: 400, next: 'Repeat the command with --yes.' },
  CONFIG_INVALID: { status: 400, next: 'Mend the named setting; `flowright config show` tells where each comes from.' },
  FLOW_COMMAND_RESERVED: { status: 501, next: 'Run flowright --help to see what there is.' },
  EDITOR_FAILED: { status: 400, next: 'Set EDITOR to a program that waits until you are done, and try again.' },
  POLICY_FILE_DAMAGED: { status: 422, next: 'Mend or remove the named file; until then the gates stay closed.' },
  NOTE_UNREADABLE: { status: 422, next: 'Mend the file on disk; `flowright doctor` checks the notes folder.' },
  STORE_FILE_DAMAGED: { status: 422, next: 'Look at the quarantined copy named in the message.' },
  SNAPSHOT_INVALID: { status: 422, next: 'Refresh it with `flowright knowledge refresh`, or remove the named file.' },
  SEALED_ELSEWHERE: { status: 422, next: 'Put back the sealing.key that this data was written with.' },
  FLOWCHART_CONFIG_MALFORMED: { status: 500, next: 'Mend or remove the named row, then start again.' },
  BACKUP_INVALID: { status: 422, next: 'Choose a file written by `flowright backup`.' },
  HUB_RUNNING: { status: 409, next: 'Stop the hub that uses this folder first.' },
  PORT_IN_USE: { status: 500, next: 'Stop the other program or set FLOWRIGHT_PORT.' },
  HUB_UNREACHABLE: { status: 502, next: 'Check the hub address and that the hub is running.' },
  FLOWISE_UNREACHABLE: {
    status: 502,
    next: 'Check the address and that Flowise is running; `flowright server test` tries it.',
  },
  FLOWISE_UNAUTHORIZED: { status: 502, next: 'Give the server a valid API key with `flowright server add`.' },
  FLOWISE_FORBIDDEN: { status: 502, next: 'Give the API key the named permission in Flowise.' },
  FLOWISE_NOT_FOUND: { status: 404, next: 'Check the id; `flowright chatflow list` shows what the server has.' },
  FLOWISE_REFUSED: { status: 502, next: 'Mend what the server names in its own words, then try again.' },
  FLOWISE_BAD_ANSWER: { status: 502, next: 'Check that the address is that of a Flowise server and of its API.' },
  FLOWISE_TIMEOUT: { status: 504, next: 'Try again, or raise flowise_timeout_seconds.' },
  FLOWISE_WRITE_UNSETTLED: { status: 502, next: 'Run `flowright chatflow sync`: it looks whether the write arrived.' },
  DATABASE_UNAVAILABLE: { status: 503, next: 'Check DATABASE_URL and that the database is running.' },
  SCHEMA_TOO_NEW: { status: 500, next: 'Run the newer Flowright that wrote this database.' },
  INTERNAL_ERROR: { status: 500, next: 'Try again; if it stays, report the request id.' },
} as const satisfies Record<string, { status: number; next: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One problem in an input: a code, a sentence, and a JSON pointer to the place. */
export interface Issue {
  code: string;
  message: string;
  path: string;
}

/** The one error class. Anything else that is thrown becomes INTERNAL_ERROR before it leaves the process. */
export class FlowrightError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, options: { details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'FlowrightError';
    this.code = code;
    this.details = options.details ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

export function refusal(code: ErrorCode, message: string, details?: Record<string, unknown>): FlowrightError {
  return new FlowrightError(code, message, details ? { details } : {});
}

/** BAD_REQUEST with its list of issues; the message names the first so that a person need not open the list. */
export function badRequest(issues: Issue[], subject = 'The request'): FlowrightError {
  const first = issues[0];
  const where = first?.path ? `${first.path} ` : '';
  const rest = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const text = first ? `${where}${first.message}${rest}` : 'is not valid';
  return refusal('BAD_REQUEST', `${subject} was refused: ${text}. ${ERRORS.BAD_REQUEST.next}`, { errors: issues });
}

/** Whatever was thrown, as a FlowrightError; unknown causes keep nothing but the original for the log. */
export function asFlowrightError(thrown: unknown): FlowrightError {
  if (thrown instanceof FlowrightError) return thrown;
  return new FlowrightError('INTERNAL_ERROR', `Something went wrong on our side. ${ERRORS.INTERNAL_ERROR.next}`, {
    cause: thrown,
  });
}
