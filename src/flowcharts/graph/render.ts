import { inertLine, textTable } from '../../kernel/terminal.ts';
import { picture } from './picture.ts';
import type {
  Flowchart,
  FlowchartSummary,
  GetResponse,
  GraphResponse,
  SaveResponse,
  ValidateResponse,
} from './wire.ts';

type Told = Pick<ValidateResponse, 'valid' | 'errors' | 'warnings'>;

export function flowchartTable(answer: {
  flowcharts: FlowchartSummary[];
  total_count: number;
  offset: number;
}): string {
  const { flowcharts, total_count, offset } = answer;
  if (flowcharts.length === 0) return total_count === 0 ? '(no flowcharts)' : '(no more flowcharts)';
  const rows = flowcharts.map(({ id, graph_version, node_count, edge_count, run_count, name }) => [
    String(id),
    String(graph_version),
    String(node_count),
    String(edge_count),
    String(run_count),
    name,
  ]);
  const table = textTable(['FLOWCHART', 'VERSION', 'NODES', 'CONNECTORS', 'RUNS', 'NAME'], rows);
  const next = offset + flowcharts.length;
  return next < total_count ? `${table}\n(${total_count} in all: --offset ${next})` : table;
}

export function flowchartLine({ flowchart }: { flowchart: Flowchart }): string {
  return `flowchart ${flowchart.id}: ${inertLine(flowchart.name)} (graph version ${flowchart.graph_version})`;
}

/** A card: what it is, the graph as a picture, whether it can run, what ran. */
export function flowchartCard({ flowchart, graph, validation, runs }: GetResponse): string {
  const limits = [
    `at most ${flowchart.max_parallel_nodes} nodes at once`,
    ...(flowchart.max_node_executions === null ? [] : [`${flowchart.max_node_executions} executions`]),
    ...(flowchart.max_runtime_minutes === null ? [] : [`${flowchart.max_runtime_minutes} minutes`]),
  ];
  return [
    flowchartLine({ flowchart }),
    ...(flowchart.description === null ? [] : [inertLine(flowchart.description)]),
    limits.join(', '),
    '',
    picture(graph),
    '',
    verdict(validation),
    ...(runs.length > 0 ? ['', runTable(runs)] : []),
  ].join('\n');
}

export function graphPicture(answer: GraphResponse): string {
  const head = `flowchart ${answer.flowchart_id}, version ${answer.version}`;
  return [head, '', picture(answer), '', verdict(answer.validation)].join('\n');
}

export function savedLines({ flowchart_id, version, nodes, edges, validation }: SaveResponse): string {
  const head = `flowchart ${flowchart_id} is at version ${version}: ${nodes.length} nodes, ${edges.length} connectors`;
  return [head, verdict(validation)].join('\n');
}

export function validationLines({ flowchart_id, version, ...told }: ValidateResponse): string {
  return [
    version === null ? `draft for flowchart ${flowchart_id}` : `flowchart ${flowchart_id}, version ${version}`,
    verdict(told),
  ].join('\n');
}

export function verdict({ valid, errors, warnings }: Told): string {
  const line = ({ code, message, path }: Told['errors'][number]) =>
    `  ${inertLine(message)} (${code}${path === '' ? '' : ` at ${inertLine(path)}`})`;
  return [
    valid ? 'it can run' : `it cannot run yet: ${errors.length} to mend`,
    ...errors.map(line),
    ...(warnings.length > 0 ? ['to know:', ...warnings.map(line)] : []),
  ].join('\n');
}

function runTable(runs: GetResponse['runs']): string {
  return textTable(
    ['RUN', 'STATUS', 'VERSION', 'CREATED'],
    runs.map(({ id, status, graph_version, created_at }) => [String(id), status, String(graph_version), created_at]),
  );
}
