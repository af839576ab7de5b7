import * as z from 'zod';

const record = {
  id: z.int().describe('Id of the attachment'),
  file_name: z.string().describe('Name of the file, without any folder'),
  content_type: z.string().describe('What the file holds'),
  size_bytes: z.int().describe('How long it is'),
  sha256: z.string().describe('SHA-256 of its content'),
  created_by: z.string().describe('Who uploaded it'),
  created_at: z.string().describe('When it was uploaded'),
};

const trace = {
  request_id: z.string().describe('Id of the request that was answered'),
  correlation_id: z.string().optional().describe('Id that the caller gave to a chain of requests'),
};

export function traceOf(context: { request_id: string; correlation_id: string | undefined }) {
  const { request_id, correlation_id } = context;
  return { request_id, ...(correlation_id === undefined ? {} : { correlation_id }) };
}

export const MAX_PAGE = 200;
export const DEFAULT_PAGE = 50;

export const AttachmentRecord = z.strictObject(record).meta({ id: 'Attachment' });
export type AttachmentRecord = z.output<typeof AttachmentRecord>;

export const AttachmentResponse = z
  .strictObject({ ok: z.literal(true), item: AttachmentRecord, ...trace })
  .meta({ id: 'AttachmentResponse' });

export const AttachmentDetailResponse = z
  .strictObject({
    ok: z.literal(true),
    item: AttachmentRecord,
    flowchart_node_ids: z.array(z.int()).describe('Nodes to which it is bound'),
    ...trace,
  })
  .meta({ id: 'AttachmentDetailResponse' });

export const AttachmentListResponse = z
  .strictObject({
    ok: z.literal(true),
    count: z.int().describe('How many are in this page'),
    total_count: z.int().describe('How many there are in all'),
    limit: z.int(),
    offset: z.int(),
    items: z.array(AttachmentRecord).max(MAX_PAGE),
    ...trace,
  })
  .meta({ id: 'AttachmentListResponse' });

export const AttachmentFileResponse = z
  .strictObject({
    ok: z.literal(true),
    ...record,
    content_base64: z.string().describe('The whole file in base64'),
    ...trace,
  })
  .meta({ id: 'AttachmentFileResponse' });

export const AttachmentDeletedResponse = z
  .strictObject({
    ok: z.literal(true),
    deleted: z.literal(true),
    attachment_id: z.int(),
    sha256: z.string().describe('SHA-256 of what it held'),
    ...trace,
  })
  .meta({ id: 'AttachmentDeletedResponse' });
