import * as z from 'zod';
import { MAX_PAGE, pageOutput, traceOutput } from '../operations/index.ts';

const record = {
  id: z.int().describe('Id of the attachment'),
  file_name: z.string().describe('Name of the file, without any folder'),
  content_type: z.string().describe('What the file holds'),
  size_bytes: z.int().describe('How long it is'),
  sha256: z.string().describe('SHA-256 of its content'),
  created_by: z.string().describe('Who uploaded it'),
  created_at: z.string().describe('When it was uploaded'),
};

export const AttachmentRecord = z.strictObject(record).meta({ id: 'Attachment' });
export type AttachmentRecord = z.output<typeof AttachmentRecord>;

export const AttachmentResponse = z
  .strictObject({ ok: z.literal(true), item: AttachmentRecord, ...traceOutput })
  .meta({ id: 'AttachmentResponse' });

export const AttachmentDetailResponse = z
  .strictObject({
    ok: z.literal(true),
    item: AttachmentRecord,
    flowchart_node_ids: z.array(z.int()).describe('Nodes to which it is bound'),
    ...traceOutput,
  })
  .meta({ id: 'AttachmentDetailResponse' });

export const AttachmentListResponse = z
  .strictObject({
    ok: z.literal(true),
    ...pageOutput,
    items: z.array(AttachmentRecord).max(MAX_PAGE),
    ...traceOutput,
  })
  .meta({ id: 'AttachmentListResponse' });

export const AttachmentFileResponse = z
  .strictObject({
    ok: z.literal(true),
    ...record,
    content_base64: z.string().describe('The whole file in base64'),
    ...traceOutput,
  })
  .meta({ id: 'AttachmentFileResponse' });

export const AttachmentDeletedResponse = z
  .strictObject({
    ok: z.literal(true),
    deleted: z.literal(true),
    attachment_id: z.int(),
    sha256: z.string().describe('SHA-256 of what it held'),
    ...traceOutput,
  })
  .meta({ id: 'AttachmentDeletedResponse' });
