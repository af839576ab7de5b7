export const CHATFLOWS_REQUIREMENTS: Record<string, string> = {
  'FLR-chatflow-apply': 'A compiled change is written exactly as compiled, read back, and becomes a version',
  'FLR-lost-update': 'A change is written only onto what it was based on; else 409 with both hashes and no write',
  'FLR-rebase': 'Moving nodes or the viewport alone is no conflict: the change is made on that',
  'FLR-settled-by-looking': 'An unclear answer or a crash is settled by looking at the server, never by a second write',
  'FLR-approval-required': 'Agents do not write to Flowise unless an admin set it so',
  'FLR-payload-bound': 'What is written has the hash that was approved',
  'FLR-idempotent-write': 'A repeated request with the same key writes once',
  'FLR-history':
    'Our writes, what was there before, and edits made in Flowise are versions: labels, diff, restore, retention',
  'FLR-chatflow-secrets': 'Secrets inside flows are stored sealed, shown nowhere, and restored whole',
  'FLR-chatflow-vaults': 'Servers and history belong to a vault',
  'FLR-promote':
    'A chatflow goes from server to server with its credentials and tools mapped; where several fit it asks',
};
