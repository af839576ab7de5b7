import * as z from 'zod';

/** Which request was answered, in answers that say so. */
export const traceOutput = {
  request_id: z.string().describe('Id of the request that was answered'),
  correlation_id: z.string().optional().describe('What ties several requests together, where one was given'),
};

export function traceOf(call: { request_id: string; correlation_id: string | undefined }) {
  const { request_id, correlation_id } = call;
  return { request_id, ...(correlation_id === undefined ? {} : { correlation_id }) };
}
