import type { DialectName } from '../database.ts';

/** Flowise servers, what their chatflows were at each moment we know of, and what we meant to write. */
export function flowise(dialect: DialectName): string[] {
  const text = dialect === 'postgres' ? 'text collate "C"' : 'text';
  const integer = dialect === 'postgres' ? 'bigint' : 'integer';
  const identity =
    dialect === 'postgres' ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement';
  const vault = `vault_id ${text} not null references vaults (vault_id)`;
  return [
    `create table flowise_servers (
      ${vault},
      name ${text} not null,
      url text not null,
      auth text not null,
      username text,
      secret_sealed text,
      is_default ${integer} not null default 0,
      created_at text not null,
      updated_at text not null,
      primary key (vault_id, name)
    )`,
    `create table chatflow_states (
      ${vault},
      flow_hash ${text} not null,
      semantic_hash text not null,
      content_sealed text not null,
      created_at text not null,
      primary key (vault_id, flow_hash)
    )`,
    `create table chatflow_versions (
      version_key ${identity},
      ${vault},
      server ${text} not null,
      chatflow_id ${text} not null,
      version ${integer} not null,
      origin text not null,
      name text not null,
      type text not null,
      flow_hash ${text},
      semantic_hash text,
      fields_json text not null,
      node_count ${integer} not null,
      edge_count ${integer} not null,
      summary text not null,
      label text,
      message text not null,
      author text not null,
      write_id text,
      created_at text not null,
      unique (vault_id, server, chatflow_id, version)
    )`,
    'create index chatflow_versions_by_state on chatflow_versions (vault_id, flow_hash)',
    `create table chatflow_writes (
      write_id ${text} primary key,
      ${vault},
      server ${text} not null,
      chatflow_id ${text},
      kind text not null,
      status text not null,
      base_hash text,
      payload_hash text not null,
      request_hash text,
      plan_sealed text not null,
      origin text not null,
      message text not null,
      sent_at text,
      error text,
      author text not null,
      process_json text not null,
      idempotency_key text,
      created_at text not null,
      settled_at text
    )`,
    // One at a time a chatflow; creations have no id yet and do not meet.
    "create unique index chatflow_writes_open on chatflow_writes (vault_id, server, chatflow_id) where status = 'intended'",
    'create unique index chatflow_writes_by_key on chatflow_writes (vault_id, idempotency_key) where idempotency_key is not null',
  ];
}
