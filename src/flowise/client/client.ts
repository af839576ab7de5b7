import type { WriteTrial } from './write-trials.ts';

/**
 * One Flowise server, typed. Every method answers or throws a FlowrightError with a FLOWISE_* code whose details hold
 * the server's own words (`{server, method, path, status, message}`, at most 300 characters, secrets hidden). Answers
 * are bounded in time and size. Only reads are tried again.
 */
export interface FlowiseClient {
  /** Name of the server, for messages. */
  readonly server: string;
  readonly url: string;
  ping(signal?: AbortSignal): Promise<void>;
  version(): Promise<string | null>;
  listNodes(): Promise<ApiNode[]>;
  /** Null when the server knows no such node. */
  getNode(name: string): Promise<ApiNode | null>;
  listTemplates(): Promise<ApiTemplate[]>;
  listCredentials(): Promise<ApiCredential[]>;
  /** All of them, read in pages where the server has pages. */
  listChatflows(query?: { type?: string }): Promise<Chatflow[]>;
  /** How many there are, without reading them where the server can say so. */
  countChatflows(): Promise<number>;
  /** Null when there is none of that id. */
  getChatflow(id: string): Promise<Chatflow | null>;
  createChatflow(body: NewChatflow): Promise<Chatflow>;
  updateChatflow(id: string, body: Partial<NewChatflow>): Promise<Chatflow>;
  /** False when there was none. */
  deleteChatflow(id: string): Promise<boolean>;
  listTools(): Promise<ApiTool[]>;
  createTool(body: NewTool): Promise<ApiTool>;
  deleteTool(id: string): Promise<boolean>;
  listVariables(): Promise<ApiVariable[]>;
  /** Asks for a change that cannot be made, so that the server says whether the key may make such changes. */
  tryWrite(what: WriteTrial): Promise<void>;
  predict(id: string, body: PredictionRequest): Promise<Prediction>;
  upsertVector(id: string, body?: { stopNodeId?: string }): Promise<Record<string, unknown>>;
  /** Closes the connections once what is under way has ended, or after so many milliseconds where a number is given. */
  close(graceMs?: number): Promise<void>;
}

/** A definition as GET /nodes sends it. */
export interface ApiNode {
  name: string;
  label: string;
  version: number;
  type: string;
  category: string;
  baseClasses: string[];
  description?: string;
  inputs?: Record<string, unknown>[];
  outputs?: Record<string, unknown>[];
  credential?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface ApiTemplate {
  /** Another one on every request. */
  id: string;
  templateName: string;
  type: 'Chatflow' | 'AgentflowV2' | 'Agentflow' | 'Tool' | string;
  flowData?: string;
  description?: string;
  badge?: string;
  framework?: string[];
  usecases?: string[];
  categories?: string[] | string;
  [field: string]: unknown;
}

/** Metadata; a server never sends the secret itself, and whatever else it sends is dropped by the client. */
export interface ApiCredential {
  id: string;
  name: string;
  credentialName: string;
  createdDate?: string;
  updatedDate?: string;
}

export const CHATFLOW_TYPES = ['CHATFLOW', 'AGENTFLOW', 'MULTIAGENT', 'ASSISTANT'] as const;
export type ChatflowType = (typeof CHATFLOW_TYPES)[number];

export interface Chatflow {
  id: string;
  name: string;
  /** JSON text, exactly as stored. */
  flowData: string;
  /** Flowise 2.x has null for CHATFLOW. */
  type: ChatflowType | null;
  deployed?: boolean | null;
  isPublic?: boolean | null;
  category?: string | null;
  chatbotConfig?: string | null;
  apiConfig?: string | null;
  apikeyid?: string | null;
  analytic?: string | null;
  speechToText?: string | null;
  textToSpeech?: string | null;
  followUpPrompts?: string | null;
  createdDate?: string;
  updatedDate?: string;
  [field: string]: unknown;
}

export interface NewChatflow {
  name: string;
  flowData: string;
  type: ChatflowType;
  deployed?: boolean;
  isPublic?: boolean;
  category?: string | null;
  chatbotConfig?: string | null;
  apiConfig?: string | null;
  analytic?: string | null;
  speechToText?: string | null;
  textToSpeech?: string | null;
  followUpPrompts?: string | null;
}

export interface NewTool {
  name: string;
  description: string;
  color: string;
  iconSrc?: string;
  /** JSON text. */
  schema: string;
  func: string;
}

export interface ApiTool extends NewTool {
  id: string;
}

export interface ApiVariable {
  id: string;
  name: string;
  type: string;
}

export interface PredictionRequest {
  question: string;
  overrideConfig?: Record<string, unknown>;
  history?: unknown[];
}

export interface Prediction {
  text?: string;
  question?: string;
  chatId?: string;
  sessionId?: string;
  sourceDocuments?: unknown[];
  usedTools?: unknown[];
  [field: string]: unknown;
}
