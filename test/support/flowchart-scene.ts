// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape; tests look into them
type Payload = any;
type Input = Record<string, unknown>;
export type Ask = (operation: string, input: Input) => Promise<Payload>;

/** What the graph of a scene is called by; tests of inert output put hostile text here. */
export interface Words {
  name: string;
  title: string;
  prompt: string;
  text: string;
  file_name: string;
}

const PLAIN: Words = {
  name: 'Release',
  title: 'Look at it',
  prompt: 'May it go out?',
  text: 'It was asked for.',
  file_name: 'notes.txt',
};

/** One of everything that belongs to flowcharts, in one vault. */
export interface FlowchartScene {
  ids: SceneIds;
  /** Names of the operations that `inputFor` knows. */
  names: string[];
  /** An input that the operation accepts from somebody who may use it. What it would use up is made anew. */
  inputFor(operation: string): Promise<Input>;
}

export interface SceneIds {
  flowchart_id: number;
  decision_node_id: number;
  memory_id: number;
  plan_id: number;
  stage_id: number;
  plan_task_id: number;
  milestone_id: number;
  attachment_id: number;
  /** A run that waits for a person, and one that has ended. */
  waiting_run_id: number;
  ended_run_id: number;
  node_run_id: number;
  task_id: number;
  artifacts: Record<'plan' | 'memory' | 'milestone' | 'decision', number>;
}

const ROOMS = ['flowchart', 'run', 'task', 'memory', 'plan', 'milestone', 'attachment', 'artifact'];

/** Is the operation about flowcharts or what belongs to them? */
export function isOfFlowcharts(operation: string): boolean {
  return ROOMS.includes(operation.split('.')[0] ?? '');
}

const POLL_MS = 10;
const PATIENCE_MS = 30_000;

/** Makes the scene through the operations themselves; runs are walked by the program that is asked. */
export async function makeFlowchartScene(ask: Ask, words: Words = PLAIN): Promise<FlowchartScene> {
  const { name, title, prompt, text } = words;
  const memory_id = (await ask('memory.create', { title: name, description: text })).item.id;
  const plan = (await ask('plan.create', { name, stages: [{ name: title, tasks: [{ name: title }] }] })).item;
  const plan_id = plan.id;
  const stage_id = plan.stages[0].id;
  const milestone_id = (await ask('milestone.create', { name, description: text })).item.id;
  const upload = async (): Promise<number> =>
    (await ask('attachment.upload', { file_name: words.file_name, content_text: text })).item.id;
  const attachment_id = await upload();
  const newFlowchart = async () => (await ask('flowchart.create', { name })).flowchart.id as number;
  const flowchart_id = await newFlowchart();
  const refs = { memory_id, plan_id, milestone_id, attachment_id };
  const saved = await ask('flowchart.save', { flowchart_id, ...sceneGraph(refs, { title, prompt, text }) });
  const nodeOf = (client: string): number => saved.id_map.nodes[client];

  /** A new run that has come as far as the person it asks. */
  const waitingRun = async (): Promise<{ run: number; task: number }> => {
    const run: number = (await ask('flowchart.run', { flowchart_id })).flowchart_run.id;
    const task = await until(async () => (await ask('task.list', { run_id: run })).items[0]?.task_id);
    return { run, task };
  };
  const endedRun = async (): Promise<number> => {
    const { run, task } = await waitingRun();
    await ask('task.answer', { task_id: task, answer: 'Yes' });
    await until(async () => (await ask('run.show', { run_id: run })).flowchart_run.status === 'completed');
    return run;
  };
  const artifactOf = async (run: number, type: string): Promise<number> =>
    (await ask('artifact.list', { flowchart_run_id: run, artifact_type: type })).items[0].id;

  const ended_run_id = await endedRun();
  const { run: waiting_run_id, task: task_id } = await waitingRun();
  const nodes = (await ask('run.nodes', { run_id: ended_run_id })).node_runs;
  const ids: SceneIds = {
    flowchart_id,
    decision_node_id: nodeOf('decide'),
    ...refs,
    stage_id,
    plan_task_id: plan.stages[0].tasks[0].id,
    waiting_run_id,
    ended_run_id,
    node_run_id: nodes.find((node: Payload) => node.node_type === 'plan').id,
    task_id,
    artifacts: {
      plan: await artifactOf(ended_run_id, 'plan'),
      memory: await artifactOf(ended_run_id, 'memory'),
      milestone: await artifactOf(ended_run_id, 'milestone'),
      decision: await artifactOf(ended_run_id, 'decision'),
    },
  };
  const { artifacts } = ids;
  const run_id = waiting_run_id;
  const decision = { flowchart_id, flowchart_node_id: ids.decision_node_id };
  let failing: Promise<number> | undefined;
  let made = 0;
  const fresh = (): string => {
    made += 1;
    return `${title.slice(0, 60)} ${made}`;
  };
  const stage = async () => (await ask('plan.stage_add', { plan_id, name: fresh() })).stage_id;
  const planTask = async () => (await ask('plan.task_add', { plan_id, stage_id, name: fresh() })).task_id;
  const ended = async () => ({ run_id: await endedRun() });

  const inputs: Record<string, () => Promise<Input> | Input> = {
    'flowchart.list': () => ({}),
    'flowchart.create': () => ({ name }),
    'flowchart.get': () => ({ flowchart_id }),
    'flowchart.update': () => ({ flowchart_id, description: text }),
    'flowchart.delete': async () => ({ flowchart_id: await newFlowchart() }),
    'flowchart.graph': () => ({ flowchart_id }),
    'flowchart.save': async () => ({
      flowchart_id: await newFlowchart(),
      ...forAnyone(sceneGraph(refs, { title, prompt, text })),
    }),
    'flowchart.validate': () => ({ flowchart_id }),
    'flowchart.versions': () => ({ flowchart_id }),
    'flowchart.diff': () => ({ flowchart_id }),
    'flowchart.node_types': () => ({}),
    'flowchart.export': () => ({ flowchart_id }),
    'flowchart.import': async () => forAnyone(await ask('flowchart.export', { flowchart_id })),
    'flowchart.run': () => ({ flowchart_id }),
    'flowchart.runtime': () => ({ flowchart_id }),
    'run.control': () => ({ run_id, action: 'resume' }),
    'run.cancel': async () => ({ run_id: (await waitingRun()).run }),
    'run.pause': async () => ({ run_id: (await waitingRun()).run }),
    'run.resume': () => ({ run_id }),
    'run.retry': ended,
    'run.skip': async () => ({ run_id: await failedRun() }),
    'run.rewind': async () => {
      const { run_id: source } = await ended();
      const [first] = (await ask('run.nodes', { run_id: source })).node_runs;
      return { run_id: source, rewind_to_node_run_id: first.id };
    },
    'run.list': () => ({}),
    'run.history': () => ({ flowchart_id }),
    'run.show': () => ({ run_id: ended_run_id }),
    'run.status': () => ({ run_id }),
    'run.nodes': () => ({ run_id: ended_run_id }),
    'run.node': () => ({ node_run_id: ids.node_run_id }),
    'run.trace': () => ({ run_id: ended_run_id }),
    'run.compare': () => ({ run_id: ended_run_id, other_run_id: run_id }),
    'run.events': () => ({ run_id: ended_run_id }),
    'task.list': () => ({}),
    'task.get': () => ({ task_id }),
    'task.answer': async () => ({ task_id: (await waitingRun()).task, answer: 'Yes' }),
    'memory.list': () => ({}),
    'memory.search': () => ({ query: 'asked' }),
    'memory.get': () => ({ memory_id }),
    'memory.create': () => ({ description: text }),
    'memory.update': () => ({ memory_id, title }),
    'memory.delete': async () => ({ memory_id: (await ask('memory.create', { description: text })).item.id }),
    'plan.list': () => ({}),
    'plan.search': () => ({ query: 'release' }),
    'plan.get': () => ({ plan_id }),
    'plan.create': () => ({ name }),
    'plan.update': () => ({ plan_id, description: text }),
    'plan.patch': () => ({ plan_id, store_mode: 'update', patch: { completed: false } }),
    'plan.delete': async () => ({ plan_id: (await ask('plan.create', { name })).item.id }),
    'plan.stage_add': () => ({ plan_id, name: fresh() }),
    'plan.stage_update': () => ({ plan_id, stage_id, description: text }),
    'plan.stage_delete': async () => ({ plan_id, stage_id: await stage() }),
    'plan.task_add': () => ({ plan_id, stage_id, name: fresh() }),
    'plan.task_update': () => ({ plan_id, stage_id, task_id: ids.plan_task_id, description: text }),
    'plan.task_delete': async () => ({ plan_id, stage_id, task_id: await planTask() }),
    'milestone.list': () => ({}),
    'milestone.search': () => ({ query: 'release' }),
    'milestone.get': () => ({ milestone_id }),
    'milestone.create': () => ({ name }),
    'milestone.update': () => ({ milestone_id, latest_update: text }),
    'milestone.delete': async () => ({ milestone_id: (await ask('milestone.create', { name })).item.id }),
    'attachment.upload': () => ({ file_name: words.file_name, content_text: text }),
    'attachment.list': () => ({}),
    'attachment.get': () => ({ attachment_id }),
    'attachment.file': () => ({ attachment_id }),
    'attachment.delete': async () => ({ attachment_id: await upload() }),
    'artifact.list': () => ({}),
    'artifact.get': () => ({ artifact_id: artifacts.plan }),
    'artifact.of_decision_list': () => decision,
    'artifact.of_decision_get': () => ({ ...decision, artifact_id: artifacts.decision }),
  };
  for (const word of ['plan', 'memory', 'milestone'] as const) {
    const entity = { [`${word}_id`]: refs[`${word}_id`] };
    inputs[`artifact.of_${word}_list`] = () => entity;
    inputs[`artifact.of_${word}_get`] = () => ({ ...entity, artifact_id: artifacts[word] });
    inputs[`artifact.of_${word}_delete`] = async () => ({
      ...entity,
      artifact_id: await artifactOf(await endedRun(), word),
    });
  }

  /** A run whose task asked for a model where there is none: there is a node to pass over. */
  async function failedRun(): Promise<number> {
    failing ??= (async () => {
      const id = await newFlowchart();
      await ask('flowchart.save', { flowchart_id: id, ...failingGraph() });
      return id;
    })();
    const run = (await ask('flowchart.run', { flowchart_id: await failing })).flowchart_run.id;
    await until(async () => (await ask('run.show', { run_id: run })).flowchart_run.status === 'failed');
    return run;
  }

  return {
    ids,
    names: Object.keys(inputs),
    inputFor: async (operation) => {
      const input = inputs[operation];
      if (!input) throw new Error(`no input is known for ${operation}: add one to the scene`);
      return input();
    },
  };
}

interface Refs {
  memory_id: number;
  plan_id: number;
  milestone_id: number;
  attachment_id: number;
}

/** Start, remember, plan, milestone, decide, ask a person, end: no model is needed. */
export function sceneGraph(refs: Refs, { title, prompt, text }: Pick<Words, 'title' | 'prompt' | 'text'>) {
  const deterministic = { mode: 'deterministic', fallback_enabled: false };
  const nodes = [
    { client_id: 'start', node_type: 'start', title },
    {
      client_id: 'remember',
      node_type: 'memory',
      title,
      ref_id: refs.memory_id,
      config: { action: 'add', store_mode: 'append', text, ...deterministic },
    },
    {
      client_id: 'plan',
      node_type: 'plan',
      title,
      ref_id: refs.plan_id,
      config: { store_mode: 'update', patch: { description: text }, ...deterministic },
    },
    {
      client_id: 'milestone',
      node_type: 'milestone',
      title,
      ref_id: refs.milestone_id,
      config: { action: 'create_or_update', patch: { latest_update: text } },
    },
    {
      client_id: 'decide',
      node_type: 'decision',
      title,
      config: { no_match_policy: 'fallback', fallback_condition_key: 'go' },
    },
    {
      client_id: 'ask',
      node_type: 'task',
      title,
      attachment_ids: [refs.attachment_id],
      config: { executor: 'human', task_prompt: prompt, allow_agents: true },
    },
    { client_id: 'end', node_type: 'end', title },
  ];
  const edges = nodes.slice(1).map(({ client_id }, at) => ({
    source: nodes[at]?.client_id,
    target: client_id,
    edge_mode: 'solid',
    ...(nodes[at]?.node_type === 'decision' ? { condition_key: 'go' } : {}),
  }));
  return { nodes: nodes.map((node, at) => ({ ...node, x: at * 200, y: 0 })), edges };
}

/** As an agent may send it too: no human task lets agents answer. */
function forAnyone<T extends { nodes: Payload[] }>(graph: T): T {
  const closed = ({ config, ...node }: Payload) =>
    config?.executor === 'human' ? { ...node, config: { ...config, allow_agents: false } } : { ...node, config };
  return { ...graph, nodes: graph.nodes.map(closed) };
}

function failingGraph() {
  return {
    nodes: [
      { client_id: 'start', node_type: 'start', x: 0, y: 0 },
      {
        client_id: 'fail',
        node_type: 'task',
        x: 200,
        y: 0,
        config: { executor: 'llm', task_prompt: 'Say something.', fallback_enabled: false },
      },
      { client_id: 'end', node_type: 'end', x: 400, y: 0 },
    ],
    edges: [
      { source: 'start', target: 'fail', edge_mode: 'solid' },
      { source: 'fail', target: 'end', edge_mode: 'solid' },
    ],
  };
}

/** Asks until there is something. */
async function until<T>(look: () => Promise<T>): Promise<NonNullable<T>> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error('it did not come to that in time');
    await new Promise((next) => setTimeout(next, POLL_MS));
  }
}
