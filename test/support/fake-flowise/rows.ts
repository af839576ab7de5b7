import { randomUUID } from 'node:crypto';
import type { FlowData } from '../../../src/flowise/flow/model.ts';

/** What the server keeps of a chatflow. Times have whole seconds, as the embedded database of Flowise stores them. */
export interface ChatflowRow {
  id: string;
  name: string;
  flowData: string;
  type: string | null;
  deployed: boolean | null;
  isPublic: boolean | null;
  apikeyid: string | null;
  chatbotConfig: string | null;
  apiConfig: string | null;
  analytic: string | null;
  speechToText: string | null;
  textToSpeech: string | null;
  followUpPrompts: string | null;
  category: string | null;
  createdDate: string;
  updatedDate: string;
}

export interface CredentialRow {
  id: string;
  name: string;
  credentialName: string;
  encryptedData: string;
  plainDataObj: Record<string, unknown>;
  createdDate: string;
  updatedDate: string;
}

export interface ToolRow {
  id: string;
  name: string;
  description: string;
  color: string;
  iconSrc: string | null;
  schema: string | null;
  func: string | null;
  createdDate: string;
  updatedDate: string;
}

export interface VariableRow {
  id: string;
  name: string;
  value: string | null;
  type: string;
  createdDate: string;
  updatedDate: string;
}

export interface MessageRow {
  chatflowid: string;
  sessionId: string;
  role: 'userMessage' | 'apiMessage';
  content: string;
}

export const CHATFLOW_FIELDS = [
  'name',
  'flowData',
  'type',
  'deployed',
  'isPublic',
  'apikeyid',
  'chatbotConfig',
  'apiConfig',
  'analytic',
  'speechToText',
  'textToSpeech',
  'followUpPrompts',
  'category',
] as const;

/** The tables, open to tests: what they do here is done behind the back of every client. */
export class Rows {
  readonly workspaceId = randomUUID();
  readonly chatflows = new Map<string, ChatflowRow>();
  readonly credentials = new Map<string, CredentialRow>();
  readonly tools = new Map<string, ToolRow>();
  readonly variables = new Map<string, VariableRow>();
  readonly messages: MessageRow[] = [];
  readonly upserts: { chatflowid: string; stopNodeId: string; numAdded: number }[] = [];
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  time(): string {
    return this.#now()
      .toISOString()
      .replace(/\.\d+Z$/, '.000Z');
  }

  addChatflow(
    fields: { name: string; flowData: string | FlowData } & Partial<Omit<ChatflowRow, 'flowData'>>,
  ): ChatflowRow {
    const now = this.time();
    const { flowData, ...rest } = fields;
    const row: ChatflowRow = {
      id: randomUUID(),
      type: 'CHATFLOW',
      deployed: false,
      isPublic: false,
      apikeyid: null,
      chatbotConfig: null,
      apiConfig: null,
      analytic: null,
      speechToText: null,
      textToSpeech: null,
      followUpPrompts: null,
      category: null,
      createdDate: now,
      updatedDate: now,
      ...rest,
      flowData: typeof flowData === 'string' ? flowData : JSON.stringify(flowData),
    };
    this.chatflows.set(row.id, row);
    return row;
  }

  addCredential(fields: {
    name: string;
    credentialName: string;
    plainDataObj?: Record<string, unknown>;
    id?: string;
  }): CredentialRow {
    const now = this.time();
    const row: CredentialRow = {
      id: fields.id ?? randomUUID(),
      name: fields.name,
      credentialName: fields.credentialName,
      encryptedData: Buffer.from(`sealed:${randomUUID()}`).toString('base64'),
      plainDataObj: fields.plainDataObj ?? {},
      createdDate: now,
      updatedDate: now,
    };
    this.credentials.set(row.id, row);
    return row;
  }

  addTool(fields: Pick<ToolRow, 'name' | 'description' | 'color'> & Partial<ToolRow>): ToolRow {
    const now = this.time();
    const row: ToolRow = {
      id: randomUUID(),
      iconSrc: null,
      schema: null,
      func: null,
      createdDate: now,
      updatedDate: now,
      ...fields,
    };
    this.tools.set(row.id, row);
    return row;
  }

  addVariable(fields: { name: string; type: string; value?: string | null }): VariableRow {
    const now = this.time();
    const row: VariableRow = { id: randomUUID(), value: null, createdDate: now, updatedDate: now, ...fields };
    this.variables.set(row.id, row);
    return row;
  }

  /** What somebody does on the canvas and saves: the flow is parsed, changed and stored. */
  editInCanvas(id: string, change: (flow: FlowData) => void): ChatflowRow {
    const row = this.chatflows.get(id);
    if (!row) throw new Error(`no chatflow ${id}`);
    const flow = JSON.parse(row.flowData) as FlowData;
    change(flow);
    row.flowData = JSON.stringify(flow);
    row.updatedDate = this.time();
    return row;
  }
}
