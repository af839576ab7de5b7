import { asFlowrightError, type FlowrightError } from '../kernel/errors.ts';

const ready = new WeakMap<object, string>();

/** The one way a payload becomes text. A payload that is kept ready keeps its text too. */
export function toJson(payload: unknown): string {
  if (payload !== null && typeof payload === 'object') {
    const text = ready.get(payload);
    if (text !== undefined) return text;
  }
  return JSON.stringify(payload);
}

/** Says that this payload will be sent again and never changes. */
export function keepReady<T extends object>(payload: T): T {
  ready.set(payload, JSON.stringify(payload));
  return payload;
}

/** The error as every door prints it; `error` equals `message`. */
export interface ErrorEnvelope {
  error: string;
  code: string;
  message: string;
  details: Record<string, unknown>;
  request_id: string;
  correlation_id?: string;
}

export function errorEnvelope(
  thrown: unknown,
  call: { request_id: string; correlation_id?: string | undefined },
): ErrorEnvelope {
  const error: FlowrightError = asFlowrightError(thrown);
  return {
    error: error.message,
    code: error.code,
    message: error.message,
    details: error.details,
    request_id: call.request_id,
    ...(call.correlation_id === undefined ? {} : { correlation_id: call.correlation_id }),
  };
}
