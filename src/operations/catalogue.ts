import { type AnyOperation, routesOf } from './operation.ts';

/** A folder's operations, loaded only when one of its namespaces is used. */
export interface Room {
  /** First words of names and commands this room owns; without a summary, one that has no commands. */
  namespaces: readonly { name: string; summary: string }[];
  /** Commands that are named but not built yet; they say so instead of being unknown. */
  reserved?: readonly string[];
  load(): Promise<readonly AnyOperation[]>;
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

  /** Operations of one namespace, without loading the other rooms. */
  async inNamespace(namespace: string): Promise<AnyOperation[]> {
    const room = this.rooms.find((candidate) => candidate.namespaces.some(({ name }) => name === namespace));
    const operations = room ? await room.load() : [];
    return operations.filter((operation) => operation.name.startsWith(`${namespace}.`));
  }

  all(): Promise<readonly AnyOperation[]> {
    this.#all ??= this.#loadAll();
    return this.#all;
  }

  async #loadAll(): Promise<readonly AnyOperation[]> {
    const operations: AnyOperation[] = [];
    for (const room of this.rooms) {
      const loaded = await room.load();
      for (const operation of loaded) {
        const [namespace] = operation.name.split('.');
        if (!room.namespaces.some(({ name }) => name === namespace)) {
          throw new Error(`${operation.name} is outside the namespaces of its room`);
        }
      }
      operations.push(...loaded);
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
