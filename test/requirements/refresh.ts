export const REFRESH_REQUIREMENTS: Record<string, string> = {
  'S000-B2-reference-is-the-source': 'The reference is Markdown for people and the source of the node snapshot',
  'S000-B5-workday-provider': 'WorkdayKnowledgeProvider holds two stores, asks nobody and starts nothing',
  'S000-C-committed-files': 'The committed snapshots are sound, and none of credentials is committed',
  'S000-F1-parts': 'all means nodes, templates and credentials; parts combine; none is a usage error with help',
  'S000-F1-dry-run': 'A dry run tells what would change and writes nothing',
  'S000-F2-nodes-from-reference': 'Nodes are refreshed from the reference without asking any server',
  'S000-F2-from-api': 'from_api, or NODE_SNAPSHOT_FROM_API, completes the nodes with one GET /nodes',
  'S000-F3-fingerprint': 'Every write has a meta file with the SHA-256 of the exact bytes, the host and the version',
  'S000-F4-diff': 'A refresh tells new and changed entries in the lines of the contract',
  'S000-F4-removed-kept': 'What a server has no more is told, kept, listed in meta and not used',
  'S000-M1-dry-run-counts':
    '`knowledge refresh --nodes --dry-run` ends with 0 and prints the item count, without a server',
  'S000-M2-templates': 'Templates are refreshed from one request, without flowData, and new ones are told',
  'S000-M3-validate': 'A credential snapshot with encryptedData or any banned key fails --validate with exit 1',
  'S000-M3-redaction': 'Refreshing credentials keeps six fields, whatever the server sends',
  'S000-M4-stubs': 'The Workday stubs are [] with status stub, item_count 0 and sha256 null',
  'S000-M4-not-yet-populated': 'Unpopulated stores raise NotImplementedError with the text of the contract',
  'S000-M4-no-op': '--workday-mcp and --workday-api print that they are not implemented and end with 0, unconfigured',
  'FLR-reference-round-trip': 'API to reference to snapshot equals API to snapshot, for every recorded node',
  'FLR-reference-never-throws': 'Whatever a reference holds, what cannot be read is told with its line',
  'FLR-reference-own-words':
    'Committed texts are ours: no sentence of Flowise, and prompts keep their places to fill in',
  'FLR-refresh-parts-are-independent': 'A part that fails is told and leaves what was known; the others go on',
  'FLR-refresh-empty-refused': 'An empty list of templates or nodes never replaces what is known',
  'FLR-refresh-unchanged': 'A refresh that finds nothing new leaves every byte of both files',
  'FLR-refresh-tells-the-file':
    'The report tells the file against what was known, texts too, and never a fingerprint match when bytes change',
  'FLR-refresh-keeps-the-server':
    'What a server said of its nodes stays until it, or the reference by name, is asked again; the source is told',
  'FLR-refresh-folder-fault': 'A folder that cannot be written is a failed part that names it',
  'FLR-refresh-reference-file':
    'write_reference writes a reference that gives the same nodes, and later refreshes read it',
  'FLR-refresh-access': 'Viewers see the status; refresh and audit are for editors; each refresh leaves an audit line',
  'FLR-refresh-other-vault': 'A server of another vault does not exist here',
  'FLR-refresh-inert': 'What a server calls its things cannot act in a terminal',
  'FLR-validate-lints':
    'Validation checks fingerprint, shape, ids, duplicates, anchors and the allowlist, and asks nobody',
  'FLR-knowledge-status': 'The status tells items, age, time left, source, fingerprint, repairs and whose they are',
  'FLR-audit-every-field': 'The audit compares every field that the compiler or the canvas uses, and names the place',
  'FLR-audit-verdicts': 'PASS, MINOR, MAJOR and CRITICAL; --ci ends with 1 on the last two',
  'FLR-workday-mcp': 'Configured, Workday actions come from tools/list of any MCP server, page by page, bounded',
  'FLR-workday-openapi':
    'Configured, Workday actions come from an OpenAPI 3 file with its references resolved, bounded',
};
