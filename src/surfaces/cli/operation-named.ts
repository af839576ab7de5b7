import type { AnyOperation } from '../../operations/index.ts';
import { createCatalogue } from '../../rooms.ts';

/** An operation for a command of its own making; loads its room only. */
export async function operationNamed(name: string): Promise<AnyOperation> {
  const operations = await createCatalogue().inNamespace(name.split('.')[0] as string);
  const found = operations.find((operation) => operation.name === name);
  if (!found) throw new Error(`there is no operation ${name}`);
  return found;
}
