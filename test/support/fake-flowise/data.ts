import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiNode } from '../../../src/flowise/client/client.ts';
import type { FlowData } from '../../../src/flowise/flow/model.ts';

/** Stripped of prose by scripts/strip-recordings.mjs. */
export const FIXTURES = fileURLToPath(new URL('../../fixtures/flowise', import.meta.url));

/** A folder of full recordings, where FLOWISE_RECORDINGS names one. */
export function recordingsFolder(): string | null {
  const named = process.env.FLOWISE_RECORDINGS;
  return named && existsSync(path.join(named, 'nodes.json')) ? named : null;
}

/** A template; the server adds an id, another one on every request. */
export interface RecordedTemplate {
  templateName: string;
  type: 'Chatflow' | 'AgentflowV2' | 'Tool';
  flowData?: string;
  framework?: string[];
  usecases?: string[];
  categories?: string[];
  [field: string]: unknown;
}

export interface RecordedCredentialType {
  name: string;
  label: string;
  inputs?: { name: string; type: string; label: string }[];
  [field: string]: unknown;
}

export interface RecordedChatflow {
  name: string;
  type: string;
  flowData: FlowData;
}

const kept = new Map<string, string>();

function text(file: string, folder: string): string {
  const full = path.join(folder, file);
  let found = kept.get(full);
  if (found === undefined) {
    found = readFileSync(full, 'utf8');
    kept.set(full, found);
  }
  return found;
}

function read<T>(file: string, folder = recordingsFolder() ?? FIXTURES): T {
  return JSON.parse(text(file, folder)) as T;
}

/** GET /nodes, a fresh copy on every call. */
export function recordedNodes(): ApiNode[] {
  return read('nodes.json');
}

/** GET /marketplaces/templates: flowData is text with an indent of four, as the real server sends it. */
export function recordedTemplates(): RecordedTemplate[] {
  const templates = read<(RecordedTemplate & { id?: string; flowData?: unknown })[]>('templates.json');
  return templates.map(({ id: _random, flowData, ...template }) => {
    if (flowData === undefined) return template;
    return { ...template, flowData: typeof flowData === 'string' ? flowData : JSON.stringify(flowData, null, 4) };
  });
}

export function recordedCredentialTypes(): RecordedCredentialType[] {
  return read('components-credentials.json');
}

export const RECORDED_CHATFLOWS = ['working', 'rag', 'toolagent', 'llmchain'] as const;
export type RecordedChatflowName = (typeof RECORDED_CHATFLOWS)[number];

/** Flows that answered predictions on a real server; a fresh copy on every call. */
export function recordedChatflow(name: RecordedChatflowName): RecordedChatflow {
  const { flowData, ...rest } = read<{ name: string; type: string; flowData: string | FlowData }>(
    `chatflow-${name}.json`,
  );
  return {
    name: rest.name,
    type: rest.type,
    flowData: typeof flowData === 'string' ? (JSON.parse(flowData) as FlowData) : flowData,
  };
}

/** A graph of the second generation of agent flows that answered too. */
export function recordedAgentflow(): FlowData {
  return read('agentflow-translator.json');
}
