/** What the doors promise for Flowise servers, their chatflows and what is known of them. */
export const CHATFLOW_DOOR_REQUIREMENTS: Record<string, string> = {
  'FLR-chatflow-wire':
    'Every answer about Flowise is what its schema says, to the last key, and holds no key of a server',
  'FLR-chatflow-parity': 'Every door reads and writes chatflows with the same bytes',
  'FLR-chatflow-parity-refusal': 'Every door refuses a question about chatflows in the same words',
  'FLR-chatflow-roles':
    'Viewers read, editors change, admins who are people name servers; agents write to Flowise only where an admin said so',
  'FLR-chatflow-inert': 'What Flowise calls things is shown on a terminal and not obeyed',
  'FLR-chatflow-key-hidden':
    'The key of a Flowise server appears in no answer, error, log, audit line or setting shown',
  'FLR-chatflow-command': 'A change from a file is shown, asked about, and written exactly as it was shown',
  'FLR-chatflow-export-files': 'Exported chatflows are readable files that stay the same while the chatflow does',
};
