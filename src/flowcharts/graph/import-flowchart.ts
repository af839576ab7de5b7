import type { DialectName, Trx } from '../../database/index.ts';
import { type Clock, isoNow } from '../../kernel/clock.ts';
import type { Issue } from '../../kernel/errors.ts';
import { createMemory } from '../../memories/index.ts';
import { createMilestone, type MilestoneFields } from '../../milestones/index.ts';
import type { Principal } from '../../operations/index.ts';
import { createPlan, savePlan } from '../../plans/index.ts';
import { createFlowchart } from './create-flowchart.ts';
import { type FileAttachment, type PlanContent, REF_LISTS } from './flowchart-file.ts';
import type { ReadFile } from './read-flowchart-file.ts';

interface Request {
  vault_id: string;
  clock: Clock;
  dialect: DialectName;
  created_by: string;
  created_as: Principal['kind'];
  file: ReadFile;
}

/** Makes what the file holds: plans, milestones and memories of its own, then the flowchart that works on them. */
export async function importFlowchart(trx: Trx, request: Request) {
  const { file } = request;
  const warnings: Issue[] = [];
  const made = new Map<string, number | null>();
  const nodes = [];
  for (const [at, node] of file.draft.nodes.entries()) {
    const { ref, attachments } = file.bound[at] ?? { ref: null, attachments: [] };
    const key = `${node.node_type} ${ref}`;
    if (ref !== null && !made.has(key)) made.set(key, await makeRef(trx, request, node.node_type, ref));
    const ref_id = ref === null ? undefined : (made.get(key) ?? null);
    if (ref_id === null) warnings.push(unbound(`/nodes/${at}/ref`, 'ref_not_found', lost(file, node.node_type, ref)));
    const attachment_ids = await findFiles(trx, request.vault_id, attachments, `/nodes/${at}/attachments`, warnings);
    nodes.push({ ...node, ref_id, attachment_ids });
  }
  const draft = { nodes, edges: file.draft.edges };
  return { ...(await createFlowchart(trx, { ...request, settings: file.settings, draft })), warnings };
}

async function makeRef(trx: Trx, request: Request, type: string, name: string): Promise<number | null> {
  const { vault_id, dialect, clock, file } = request;
  const now = isoNow(clock);
  switch (REF_LISTS[type]) {
    case 'plans':
      return makePlan(trx, request, file.refs.plans[name] as PlanContent, now);
    case 'milestones': {
      const fields = file.milestones.get(name) as MilestoneFields;
      return (await createMilestone(trx, dialect, { vault_id, fields, now })).id;
    }
    case 'memories': {
      const { title, description } = file.refs.memories[name] ?? { title: null, description: '' };
      return (await createMemory(trx, dialect, clock, { vault_id, title, description })).id;
    }
    default:
      return findFlowchartNamed(trx, vault_id, file.refs.flowcharts[name]?.name ?? '');
  }
}

async function makePlan(trx: Trx, { vault_id, dialect }: Request, plan: PlanContent, now: string): Promise<number> {
  const { name, description } = plan;
  const created = await createPlan(trx, dialect, { vault_id, name, description, now });
  // Below zero: not stored yet.
  let id = 0;
  const row = (given: { name: string; description: string | null; completed: boolean }, position: number) => ({
    id: --id,
    name: given.name,
    description: given.description,
    position,
    completed_at: given.completed ? now : null,
    created_at: now,
    updated_at: now,
  });
  const stages = plan.stages.map((stage, at) => ({
    ...row(stage, at + 1),
    tasks: stage.tasks.map((task, place) => row(task, place + 1)),
  }));
  await savePlan(trx, dialect, created, { ...created, completed_at: plan.completed ? now : null, stages });
  return created.id;
}

/** The one flowchart of that name; of two, nobody can tell which was meant. */
async function findFlowchartNamed(trx: Trx, vaultId: string, name: string): Promise<number | null> {
  const rows = await trx
    .selectFrom('flowcharts')
    .select('id')
    .where('vault_id', '=', vaultId)
    .where('name', '=', name)
    .limit(2)
    .execute();
  return rows.length === 1 ? Number(rows[0]?.id) : null;
}

async function findFiles(
  trx: Trx,
  vaultId: string,
  files: readonly FileAttachment[],
  path: string,
  warnings: Issue[],
): Promise<number[]> {
  const ids: number[] = [];
  for (const [at, { file_name, sha256 }] of files.entries()) {
    const row = await trx
      .selectFrom('attachments')
      .select('id')
      .where('vault_id', '=', vaultId)
      .where('sha256', '=', sha256)
      .orderBy('id')
      .executeTakeFirst();
    if (!row) {
      const message = `${JSON.stringify(file_name)} is not in this vault: upload it and bind it to the node`;
      warnings.push(unbound(`${path}/${at}`, 'attachment_not_found', message));
    } else if (!ids.includes(Number(row.id))) ids.push(Number(row.id));
  }
  return ids;
}

function lost(file: ReadFile, type: string, ref: string | null): string {
  const name = type === 'flowchart' && ref !== null ? file.refs.flowcharts[ref]?.name : ref;
  return `no single flowchart is called ${JSON.stringify(name)} here: choose one for the node`;
}

function unbound(path: string, code: string, message: string): Issue {
  return { code, message, path };
}
