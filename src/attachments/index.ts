export type { Attachment } from './attachment.ts';
export { Attachments } from './attachments.ts';
