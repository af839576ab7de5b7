import { type AnyOperation, routesOf } from './operation.ts';

/** Operations that load together. */
export interface Part {
  /** Second words of their commands; a command line that begins with another loads them not. All when left out. */
  commands?: readonly string[];
  load(): Promise<readonly AnyOperation[]>;
}

/** What belongs to some namespaces, loaded only when one of them is used. */
export interface Room {
  /** First words of names and commands this room owns; without a summary, one that has no commands. */
  namespaces: readonly { name: string; summary: string }[];
  /** Commands that are named but not built yet; they say so instead of being unknown. */
  reserved?: readonly string[];
  parts: readonly Part[];
}

/** All operations of the program. Refuses at start-up whatever two operations cannot share. */
export class Catalogue {
  readonly rooms: readonly Room[];
  #all: Promise<readonly AnyOperation[]> | undefined;

  constructor(rooms: readonly Room[]) {
    this.rooms = rooms;
    const claimed = new Set<string>();
    for (const { name } of rooms.flatMap((room) => room.namespaces)) {
      if (claimed.has(name)) throw new Error(`two rooms claim the namespace ${name}`);
      claimed.add(name);
    }
  }

  namespaces(): { name: string; summary: string }[] {
    return this.rooms.flatMap((room) => room.namespaces);
  }

  reservedCommands(): string[] {
    return this.rooms.flatMap((room) => room.reserved ?? []);
  }

  /** Operations of one namespace, without loading the other rooms; of one command, without its other parts. */
  async inNamespace(namespace: string, command?: string): Promise<AnyOperation[]> {
    const room = this.rooms.find((candidate) => candidate.namespaces.some(({ name }) => name === namespace));
    const parts = room?.parts ?? [];
    const wanted = parts.filter(({ commands }) => command !== undefined && commands?.includes(command));
    const operations = await loadParts(wanted.length > 0 ? wanted : parts);
    return operations.filter((operation) => operation.name.startsWith(`${namespace}.`));
  }

  all(): Promise<readonly AnyOperation[]> {
    this.#all ??= this.#loadAll();
    return this.#all;
  }

  async #loadAll(): Promise<readonly AnyOperation[]> {
    const operations: AnyOperation[] = [];
    for (const room of this.rooms) {
      for (const part of room.parts) {
        const loaded = await part.load();
        for (const operation of loaded) assertAtHome(operation, room, part);
        operations.push(...loaded);
      }
    }
    assertUnique('name', operations, ({ name }) => [name]);
    assertUnique('route', operations, (operation) =>
      routesOf(operation).map(({ method, path }) => `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`),
    );
    assertUnique('MCP tool', operations, ({ mcp }) => (mcp ? [mcp.tool] : []));
    assertUnique('command', operations, ({ cli }) => (cli ? [cli.command.replace(/ [<[].*$/, '')] : []));
    return operations;
  }
}

async function loadParts(parts: readonly Part[]): Promise<AnyOperation[]> {
  const operations: AnyOperation[] = [];
  for (const part of parts) operations.push(...(await part.load()));
  return operations;
}

function assertAtHome({ name, cli }: AnyOperation, room: Room, part: Part): void {
  const [namespace] = name.split('.');
  if (!room.namespaces.some((claimed) => claimed.name === namespace)) {
    throw new Error(`${name} is outside the namespaces of its room`);
  }
  const word = cli?.command.split(' ')[1] ?? '';
  if (cli && part.commands && !part.commands.includes(word)) {
    throw new Error(`${name} has the command ${cli.command}, which its part does not name`);
  }
}

function assertUnique(
  what: string,
  operations: readonly AnyOperation[],
  keysOf: (operation: AnyOperation) => readonly string[],
): void {
  const holders = new Map<string, string>();
  for (const operation of operations) {
    for (const key of keysOf(operation)) {
      const holder = holders.get(key);
      if (holder) throw new Error(`${holder} and ${operation.name} share the ${what} ${key}`);
      holders.set(key, operation.name);
    }
  }
}
