/**
 * Dependencies point one way: kernel ← home, database ← operations ← rooms of the domain ← surfaces ← app.
 * A folder is entered through its index.ts; only rooms.ts, which loads rooms lazily, also knows their operations.ts.
 */
const below = {
  kernel: ['kernel'],
  home: ['kernel', 'home'],
  database: ['kernel', 'database'],
  operations: ['kernel', 'database', 'operations'],
  audit: ['kernel', 'database', 'operations', 'audit'],
  identity: ['kernel', 'database', 'operations', 'identity'],
  health: ['kernel', 'operations', 'health'],
  flows: ['kernel', 'home', 'database', 'operations', 'flows'],
  vault: ['kernel', 'home', 'database', 'operations', 'vault'],
  policy: ['kernel', 'home', 'database', 'operations', 'vault', 'flows', 'policy'],
  proposals: ['kernel', 'database', 'operations', 'vault', 'policy', 'proposals'],
  diff: ['kernel', 'database', 'operations', 'flows', 'diff'],
  projection: ['kernel', 'database', 'operations', 'flows', 'projection'],
  llm: ['kernel', 'llm'],
  attachments: ['kernel', 'home', 'database', 'operations', 'attachments'],
  artifacts: ['kernel', 'database', 'operations', 'artifacts'],
  memories: ['kernel', 'database', 'operations', 'artifacts', 'memories'],
  plans: ['kernel', 'database', 'operations', 'artifacts', 'plans'],
  milestones: ['kernel', 'database', 'operations', 'artifacts', 'milestones'],
  flowcharts: [
    'kernel',
    'home',
    'database',
    'operations',
    'llm',
    'attachments',
    'artifacts',
    'memories',
    'plans',
    'milestones',
    'flowcharts',
  ],
  flowise: ['kernel', 'home', 'database', 'operations', 'flowise'],
  knowledge: ['kernel', 'home', 'database', 'operations', 'flowise', 'knowledge'],
  chatflows: ['kernel', 'home', 'database', 'operations', 'flowise', 'knowledge', 'chatflows'],
  authoring: [
    'kernel',
    'database',
    'operations',
    'vault',
    'flows',
    'policy',
    'diff',
    'projection',
    'proposals',
    'authoring',
  ],
};

module.exports = {
  forbidden: [
    ...Object.entries(below).map(([folder, allowed]) => ({
      name: `${folder}-looks-only-down`,
      severity: 'error',
      from: { path: `^src/${folder}/` },
      to: { path: '^src/', pathNot: `^src/(${allowed.join('|')})/` },
    })),
    {
      name: 'surfaces-are-on-top',
      comment: 'Only the program and the surfaces themselves know the surfaces.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(surfaces/|main\\.ts$)' },
      to: { path: '^src/surfaces/' },
    },
    {
      name: 'through-the-index',
      comment: 'Another folder is entered through its index.ts; the kernel has none.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: {
        path: '^src/(home|database|operations|audit|identity|flows|doctor|vault|policy|proposals|diff|projection|authoring|llm|attachments|artifacts|memories|plans|milestones|flowcharts|flowise|knowledge|chatflows)/',
        pathNot: ['^src/$1/', '/index\\.ts$', '^src/flows/apply\\.ts$'],
      },
    },
    {
      name: 'one-writer-of-flows',
      comment: 'Only what applies an approved proposal writes flows; the library itself seeds and imports.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(authoring/(flow-target|precheck)\\.ts$|flows/)' },
      to: { path: '^src/flows/apply\\.ts$' },
    },
    {
      name: 'through-the-index-from-the-root',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$', pathNot: '^src/rooms\\.ts$' },
      to: {
        path: '^src/(home|database|operations|audit|identity|flows|doctor|vault|policy|proposals|diff|projection|authoring|llm|attachments|artifacts|memories|plans|milestones|flowcharts|flowise|knowledge|chatflows)/',
        // These must not bring the rest of their room into every command.
        pathNot: [
          '/index\\.ts$',
          '^src/flowcharts/(runtime/(open-runtime|create-dispatcher)|graph/(migrate-configs|add-examples))\\.ts$',
          '^src/chatflows/keep-synced\\.ts$',
        ],
      },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'node_modules' },
  },
};
