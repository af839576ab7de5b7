/** Rules about the doors of flowcharts: who may do what, what is told to whom, and that all doors say the same. */
export const FLOWCHART_DOOR_REQUIREMENTS = {
  'S004-parity': 'CLI, MCP and REST give byte-identical JSON for run control, artifact reads and the other reads',
  'S004-parity-refusal': 'CLI, MCP and REST refuse what concerns flowcharts with the same envelope',
  'FLR-flowchart-roles': 'Viewers read, editors write, admins delete; deletes are for people and have no MCP tool',
  'FLR-flowchart-vaults':
    'What belongs to a flowchart of another vault is answered exactly like what is missing, through REST, MCP and sockets',
  'FLR-flowchart-inert': 'Hostile names, titles, prompts, texts and file names of flowcharts are inert in the terminal',
};
