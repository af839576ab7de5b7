export const KNOWLEDGE_REQUIREMENTS: Record<string, string> = {
  'S000-B1-no-io-until-asked':
    'Making a provider touches no file and asks nobody; it is no capability and starts nothing',
  'S000-B2-node-key': 'Nodes are looked up by node_type: exact, else the only one that differs in case',
  'S000-B3-templates-without-flows': 'The template snapshot holds metadata only; a flow is fetched when it is used',
  'S000-B4-allowlist': 'A credential snapshot holds six fields and nothing else, whatever a server or a file says',
  'S000-D1-node-entry':
    'A node entry has node_type, input_anchors, output_anchors and input_params, and what else is known',
  'S000-D2-template-entry': 'A template entry has template_id, name, tags, badge, framework, usecases and its stamps',
  'S000-D3-banned-keys': 'A credential snapshot with a banned key is never loaded and never written',
  'S000-D4-meta': 'A meta file has the seven keys of the contract, with the SHA-256 of the exact bytes',
  'S000-E1-local-first': 'Whatever a sound and fresh snapshot holds is answered without a request',
  'S000-E2-one-repair':
    'What is missing makes exactly one request for exactly that, is appended, and is local from then on',
  'S000-E2-not-found-once': 'A name that does not exist makes one request a session',
  'S000-E2-log-line':
    'A repair logs `[knowledge] repaired snapshot: added <node_type> from API`, unless that is turned off',
  'S000-E3-mismatch-refreshes':
    'A snapshot that lost its fingerprint is warned of and refreshed before anything is answered',
  'S000-E4-slices':
    'Prompts get names and categories, at most ten parameters of one node, three templates, name and type pairs',
  'S000-E5-state-keys':
    'A session gives the four state keys: node types, resolved credentials, the template used, repair events',
  'S000-M2-template-ttl': 'Templates are listed again only when their snapshot has outlived its limit',
  'S000-M3-credential-known': 'A known credential is resolved without a request',
  'S000-M3-credential-miss':
    'An unknown credential makes one request for the list, whose filtered content is merged and kept',
  'S000-M3-credential-ttl':
    'Credentials are listed again at the start of a session when their snapshot has outlived its limit',
  'S000-M3-loaded-line': 'A session logs `[knowledge] credentials loaded: 5 items (from snapshot)`',
  'S000-H2-synchronous-reads': 'Snapshots are read synchronously, and repairs use the client that was given',
  'FLR-knowledge-ambiguous-credential': 'When several credentials fit, all are offered and none is taken',
  'FLR-knowledge-crash-safe': 'A writer that dies at any step leaves a snapshot that reads as before or as after',
  'FLR-knowledge-merge-under-lock': 'Processes that write one snapshot at once lose nothing of each other',
  'FLR-knowledge-unchanged-bytes': 'A refresh that finds nothing new leaves every byte of both files',
  'FLR-knowledge-last-good':
    'A broken file, a wrong host or a server that is down gives coded warnings and the last good answers',
  'FLR-knowledge-frozen': 'Answers cannot be changed by who reads them',
  'FLR-knowledge-normalise-lossless':
    'Normalising a definition keeps every field that the canvas or the compiler reads',
  'FLR-knowledge-stable-template-id': 'A template has the same id on every request, made of its type and name',
  'FLR-knowledge-removed-not-resolved':
    'What a server has no more stays in the file, is listed in meta and is not resolved',
  'FLR-knowledge-first-lookup': 'The first lookup costs at most twice a bare read, SHA-256 and parse',
  'FLR-knowledge-later-lookups':
    'Later lookups touch no file and are 10,000 times faster than asking a server on loopback',
  'FLR-knowledge-node':
    'A node type is shown with all that operations may say of it; local first, fetched once, with what may have been meant',
  'FLR-knowledge-nodes':
    'Node types are listed by name, label and category, searched and paged, without asking anybody',
  'FLR-operations-page':
    'The page on chatflows tells every operation with each of its fields, and its examples compile',
  'FLR-knowledge-own-folder': 'Each server of each vault has its own folder, unless a setting names one for all',
};
