import type { DialectName } from '../database.ts';

/** Vaults, people, tokens, audit, events, and the flow library. */
export function foundation(dialect: DialectName): string[] {
  // PostgreSQL would sort by the locale of its database; ids and times sort by code unit on both engines.
  const text = dialect === 'postgres' ? 'text collate "C"' : 'text';
  const integer = dialect === 'postgres' ? 'bigint' : 'integer';
  const identity =
    dialect === 'postgres' ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement';
  const header = dialect === 'sqlite' ? ['pragma application_id = 1179408210'] : [];
  return [
    ...header,
    `create table vaults (
      vault_id ${text} primary key,
      title text not null,
      starter_revision ${integer} not null,
      created_at ${text} not null
    )`,
    `create table users (
      user_id ${text} primary key,
      created_at ${text} not null,
      disabled_at ${text}
    )`,
    `create table memberships (
      user_id ${text} not null references users (user_id),
      vault_id ${text} not null references vaults (vault_id),
      role text not null check (role in ('viewer', 'editor', 'evaluator', 'admin')),
      scopes_json text,
      ambiguous ${integer} not null default 0,
      created_at ${text} not null,
      primary key (vault_id, user_id)
    )`,
    `create table tokens (
      token_id ${text} primary key,
      secret_sha256 ${text} not null unique,
      purpose text not null check (purpose in ('bearer', 'session', 'signin')),
      user_id ${text} not null references users (user_id),
      vault_id ${text} not null references vaults (vault_id),
      agent ${integer} not null,
      label text not null,
      created_at ${text} not null,
      expires_at ${text} not null,
      revoked_at ${text}
    )`,
    'create index tokens_by_vault on tokens (vault_id, created_at)',
    `create table audit (
      vault_id ${text} not null,
      sequence ${integer} not null,
      at ${text} not null,
      user_id ${text} not null,
      actor_hash text not null,
      door text not null,
      action text not null,
      outcome text not null check (outcome in ('done', 'refused')),
      code text,
      occurrences ${integer} not null,
      request_id text not null,
      detail_json text not null,
      previous_hash text not null,
      hash text not null,
      primary key (vault_id, sequence)
    )`,
    `create table streams (
      stream ${text} primary key,
      last_sequence ${integer} not null,
      first_sequence ${integer} not null
    )`,
    `create table events (
      stream ${text} not null,
      sequence ${integer} not null,
      event_id text not null,
      type text not null,
      payload_json text not null,
      created_at ${text} not null,
      primary key (stream, sequence)
    )`,
    'create index events_by_age on events (created_at)',
    `create table revisions (topic ${text} primary key, revision ${integer} not null)`,
    `create table flows (
      flow_key ${identity},
      vault_id ${text} not null references vaults (vault_id),
      flow_id ${text} not null,
      version text not null,
      scope text not null check (scope in ('personal', 'project', 'org')),
      updated_ms ${integer} not null,
      summary_json text not null,
      state_id text not null,
      content_sha256 text not null,
      retired_at text,
      unique (vault_id, flow_id)
    )`,
    'create index flows_by_scope on flows (vault_id, scope, updated_ms desc, flow_id) where retired_at is null',
    `create table flow_tags (
      vault_id ${text} not null,
      tag ${text} not null,
      scope ${text} not null,
      updated_ms ${integer} not null,
      flow_id ${text} not null,
      primary key (vault_id, flow_id, tag)
    )`,
    'create index flow_tags_by_tag on flow_tags (vault_id, tag, scope, updated_ms desc, flow_id)',
    `create table flow_versions (
      vault_id ${text} not null references vaults (vault_id),
      flow_id ${text} not null,
      version ${text} not null,
      flow_json text not null,
      state_id text not null,
      content_sha256 text not null,
      created_at text not null,
      primary key (vault_id, flow_id, version)
    )`,
    `create table flow_steps (
      vault_id ${text} not null,
      flow_id ${text} not null,
      version ${text} not null,
      ordinal ${integer} not null,
      step_id text not null,
      step_json text not null,
      primary key (vault_id, flow_id, version, ordinal),
      foreign key (vault_id, flow_id, version) references flow_versions (vault_id, flow_id, version)
    )`,
    `create table flow_records (
      vault_id ${text} not null,
      kind text not null check (kind in ('runs', 'candidates', 'projections')),
      position ${integer} not null,
      record_json text not null,
      primary key (vault_id, kind, position)
    )`,
    `create table flow_quarantine (
      quarantine_id ${text} primary key,
      vault_id ${text} not null,
      kind text not null,
      reason text not null,
      record_json text not null,
      created_at ${text} not null
    )`,
    ...flowSearch(dialect),
  ];
}

/**
 * The words of each latest version, weighted title > tags > summary > steps. On SQLite the vault is a word too, so that
 * a search reads only its own vault's entries.
 */
function flowSearch(dialect: DialectName): string[] {
  if (dialect === 'sqlite') {
    return ["create virtual table flow_words using fts5 (title, tags, summary, steps, vault, tokenize = 'unicode61')"];
  }
  return [
    'create table flow_words (flow_key bigint primary key references flows (flow_key), words tsvector not null)',
    'create index flow_words_by_word on flow_words using gin (words)',
  ];
}
