import * as z from 'zod';
import { pageOutput, traceOutput } from '../../operations/index.ts';
import { CHECKS } from './try-server.ts';

const serverFields = {
  name: z.string().describe('What the server is called here'),
  url: z.string().describe('Its address, without anything secret'),
  auth: z.enum(['none', 'key', 'basic']).describe('How it is asked: with nothing, an API key, or a name and password'),
  origin: z
    .enum(['added', 'config', 'environment'])
    .describe('Where it comes from; only added ones can be changed by an operation'),
  is_default: z.boolean().describe('Meant when none is named'),
};

export const ServerSchema = z.strictObject(serverFields).meta({ id: 'FlowiseServer' });

export const ServerListResponse = z
  .strictObject({ ok: z.literal(true), ...pageOutput, items: z.array(ServerSchema), ...traceOutput })
  .meta({ id: 'FlowiseServerListResponse' });

export const ServerAddedResponse = z
  .strictObject({
    ok: z.literal(true),
    item: ServerSchema,
    replaced: z.boolean().describe('There was one of that name before'),
    secret_kept: z.boolean().describe('Its stored key or password is still in use'),
    ...traceOutput,
  })
  .meta({ id: 'FlowiseServerAddedResponse' });

export const ServerDefaultResponse = z
  .strictObject({ ok: z.literal(true), item: ServerSchema, ...traceOutput })
  .meta({ id: 'FlowiseServerDefaultResponse' });

export const ServerRemovedResponse = z
  .strictObject({ ok: z.literal(true), removed: z.literal(true), name: z.string(), ...traceOutput })
  .meta({ id: 'FlowiseServerRemovedResponse' });

const CheckSchema = z
  .strictObject({
    check: z.enum(CHECKS).describe('What was tried'),
    kind: z.enum(['read', 'write']).describe('Whether it is about reading or about changing something'),
    ok: z.boolean(),
    permission: z.string().nullable().describe('Permission of Flowise 3 that it needs; null when any key will do'),
    needed: z.boolean().describe('Flowright uses it; what it does not use may fail'),
    count: z.int().nullable().describe('How many there are'),
    code: z.string().nullable().describe('Error code when it failed'),
    message: z.string().nullable().describe('What went wrong'),
  })
  .meta({ id: 'FlowiseServerCheck' });

export const ServerTestResponse = z
  .strictObject({
    ok: z.boolean().describe('Everything that was tried and is needed works'),
    ...serverFields,
    flowise_version: z.string().nullable().describe('Version of Flowise, where it tells'),
    writes_tried: z.boolean().describe('Whether the checks say anything about writing; only Flowise 3 has permissions'),
    checks: z.array(CheckSchema),
    findings: z.array(z.string()).describe('What is missing and what to do, a sentence each'),
    ...traceOutput,
  })
  .meta({ id: 'FlowiseServerTestResponse' });
