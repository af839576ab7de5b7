export { AuditLog } from './log.ts';
