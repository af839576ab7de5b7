import { asFlowrightError, type FlowrightError } from '../kernel/errors.ts';

const ready = new WeakMap<object, Buffer>();

/** The one way a payload becomes text. */
export function toJson(payload: unknown): string {
  return JSON.stringify(payload);
}

/** The same text as bytes; those of a payload that is kept ready are made once. */
export function toJsonBytes(payload: unknown): Buffer {
  const kept = payload !== null && typeof payload === 'object' ? ready.get(payload) : undefined;
  return kept ?? Buffer.from(toJson(payload), 'utf8');
}

/** Says that this payload will be sent again and never changes. */
export function keepReady<T extends object>(payload: T): T {
  ready.set(payload, Buffer.from(toJson(payload), 'utf8'));
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
