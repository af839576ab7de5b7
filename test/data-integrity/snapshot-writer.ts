import { updateSnapshot } from '../../src/knowledge/snapshot-update.ts';

/** Adds entries to a snapshot until it is killed or has added all; tells each one that is kept. */
const [folder = '', writer = '', count = '0'] = process.argv.slice(2);
for (let at = 0; at < Number(count); at += 1) {
  await updateSnapshot(folder, 'flowise_templates', (current) => ({
    items: [...(current.state === 'ok' ? current.items : []), { name: `${writer}${at}` }],
    generated_at: new Date().toISOString(),
    source: 'flowise_api',
    source_host: null,
    flowise_version: null,
  }));
  process.stdout.write(`${writer}${at}\n`);
}
