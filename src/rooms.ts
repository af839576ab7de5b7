import { Catalogue } from './operations/index.ts';

/** Every operation of the program, by room. A room's code loads when one of its commands or routes is used. */
export function createCatalogue(): Catalogue {
  return new Catalogue([
    {
      namespaces: [{ name: 'flow', summary: 'Procedures with steps and proof-of-done' }],
      reserved: ['flow propose', 'flow export', 'flow import', 'flow project', 'flow run'],
      load: async () => (await import('./flows/operations.ts')).operations,
    },
    {
      namespaces: [
        { name: 'whoami', summary: 'Who you are here' },
        { name: 'vault', summary: 'Vaults, each with its own flows and members' },
        { name: 'user', summary: 'Users of this hub' },
        { name: 'member', summary: 'Members of a vault and their roles' },
        { name: 'token', summary: 'Bearer tokens for programs and other machines' },
      ],
      load: async () => (await import('./identity/operations.ts')).operations,
    },
    {
      namespaces: [{ name: 'audit', summary: 'The log of what was done and refused' }],
      load: async () => (await import('./audit/operations.ts')).operations,
    },
    {
      namespaces: [{ name: 'health', summary: '' }],
      load: async () => (await import('./health/operations.ts')).operations,
    },
  ]);
}
