import type * as z from 'zod';
import type { Trx } from '../database/index.ts';
import type { Config } from '../kernel/config.ts';
import type { Ready } from '../kernel/ready.ts';
import type { Principal } from './principal.ts';
import type { Capability } from './role.ts';

export type Door = 'http' | 'cli' | 'mcp' | 'builder';

/** Everything about a request that is not its input. */
export interface Call {
  principal: Principal;
  door: Door;
  request_id: string;
  correlation_id: string | undefined;
}

/** What a handler gets: the call, the services it needs and, in a write, the transaction its audit line shares. */
export type Context<Needs> = Call & Needs & { trx: Trx };

export interface HttpRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With {name} for path parameters. */
  path: string;
  /** Path parameter → input key, where the two differ. */
  rename?: Record<string, string>;
  /** Status of a success; 200 unless said. */
  status?: number;
  /** Groups routes in the OpenAPI document. */
  tag: string;
  /** Names the state of what is sent, for a client that wants to change it. */
  etag?(payload: never): string | undefined;
  /** The file that a success is about. It is what a client gets that does not ask for JSON; to save, never to show. */
  raw?(payload: never): RawAnswer;
  /** Largest body, where that of all routes is too small. */
  bodyLimit?(config: Config): number;
}

export interface RawAnswer {
  body: Buffer;
  content_type: string;
  file_name: string;
}

/**
 * One operation, every door. The command line, MCP, REST and the builder's tools are derived from this value; a door
 * that shapes a payload is a bug.
 */
export interface Operation<
  Needs = never,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
  Prepared = z.output<Input>,
> {
  /** Canonical, namespaced: `flow.list`. */
  name: string;
  summary: string;
  /** What a person or a model should know before calling it; the summary when left out. */
  description?: string;
  input: Input;
  /** What the doors tell of the input, where the handler itself checks it and so takes it unparsed. */
  documentedInput?: z.ZodObject;
  output: Output;
  access:
    | { public: true }
    | {
        can: Capability;
        /** Hub-wide acts are for administrators of the vault `default`. */
        hub?: true;
      };
  /** read | write | destructive: drives MCP hints, HTTP caching, transactions, audit and confirmation. */
  effect: 'read' | 'write' | 'destructive';
  /** It asks or changes another system, which may answer differently each time. */
  reaches?: 'elsewhere';
  http: HttpRoute | readonly HttpRoute[];
  mcp?: { tool: string };
  cli?: {
    /** Words, then positional arguments: `flow get <flow_id>`. */
    command: string;
    /** The command is made by hand, because it reads files or opens an editor; only the rendering is used. */
    byHand?: true;
    /** Shows what would happen, by a dry run of the operation, and asks before it does it. */
    askFirst?: true;
    examples?: string[];
    /** For people; `--json` prints the payload itself. */
    render(payload: z.output<Output>): Ready<string>;
    /** The same on a terminal that shows colours: ours, of kernel/terminal; any other sequence is shown, not obeyed. */
    renderInColour?(payload: z.output<Output>): Ready<string>;
    /** True for an answer that is bad news; the command then ends with 1. */
    isBadNews?(payload: z.output<Output>): boolean;
  };
  /**
   * The payload in a few words, for a model that called this as a tool: the compact text of its ToolResult. Lists name
   * their first entries with ids (`digestList`), so that the model can choose; secrets and length are seen to after it.
   */
  digest?(payload: z.output<Output>): string;
  /** Error codes beyond those that every operation can answer. */
  errors?: readonly string[];
  /** What the audit line of a write says beside its name: ids and words, never content or secrets. */
  audit?(input: z.output<Input>, payload: z.output<Output>): Record<string, unknown>;
  /** Of a write: what needs no lock, and may refuse before one is taken. `handle` gets what it makes of the input. */
  prepare?(context: Context<Needs>, input: z.output<Input>): Ready<Prepared>;
  handle(context: Context<Needs>, input: Prepared): Ready<z.output<Output>>;
  /** Of a write: what may only happen once it is committed, such as writing files. Its answer is the payload. */
  finish?(context: Context<Needs>, payload: z.output<Output>): Promise<z.output<Output>>;
}

export function defineOperation<Needs, Input extends z.ZodObject, Output extends z.ZodType, Prepared = z.output<Input>>(
  operation: Operation<Needs, Input, Output, Prepared>,
): Operation<Needs, Input, Output, Prepared> {
  return operation;
}

export function routesOf(operation: { http: HttpRoute | readonly HttpRoute[] }): readonly HttpRoute[] {
  return Array.isArray(operation.http) ? operation.http : [operation.http as HttpRoute];
}

/** An operation whose input and output types are of no interest to the holder. */
// biome-ignore lint/suspicious/noExplicitAny: the catalogue holds operations of every shape
export type AnyOperation<Needs = any> = Operation<Needs, any, any, any>;
