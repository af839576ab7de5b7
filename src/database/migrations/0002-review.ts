import type { DialectName } from '../database.ts';

/** Proposals and their comments, mirrors of flows, and files that are still to be written. */
export function review(dialect: DialectName): string[] {
  const text = dialect === 'postgres' ? 'text collate "C"' : 'text';
  const integer = dialect === 'postgres' ? 'bigint' : 'integer';
  const identity =
    dialect === 'postgres' ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement';
  return [
    `create table proposals (
      proposal_key ${identity},
      proposal_id ${text} not null unique,
      vault_id ${text} not null references vaults (vault_id),
      target text not null check (target in ('note', 'flow')),
      status ${text} not null check (status in ('proposed', 'approved', 'discarded', 'conflicted')),
      path ${text} not null,
      source text not null,
      intent text not null,
      body text not null,
      frontmatter_json text not null,
      labels_json text not null,
      label_words text not null,
      external_ref text not null,
      base_state_id text not null,
      base_sha256 text,
      base_text text,
      flow_id ${text},
      flow_kind text check (flow_kind in ('new', 'edit', 'import', 'retire')),
      flow_version text,
      base_version text,
      scope text check (scope in ('personal', 'project', 'org')),
      auto_approvable ${integer} not null,
      review_queue text not null,
      review_severity text not null check (review_severity in ('standard', 'elevated')),
      flag_reasons_json text not null,
      evaluation_status text not null
        check (evaluation_status in ('none', 'pending', 'passed', 'failed', 'needs_changes')),
      evaluation_json text not null,
      waiver_json text,
      proposed_by ${text} not null,
      proposed_as text not null check (proposed_as in ('user', 'agent', 'local')),
      actor_hash text not null,
      decided_by text,
      decided_at text,
      decision_note text not null,
      self_approved ${integer} not null,
      applied_state_id text,
      idempotency_key ${text},
      request_sha256 text,
      created_at ${text} not null,
      updated_at ${text} not null,
      unique (vault_id, proposed_by, idempotency_key)
    )`,
    'create index proposals_by_vault on proposals (vault_id, proposal_key)',
    'create index proposals_by_status on proposals (vault_id, status, proposal_key)',
    'create index proposals_by_flow on proposals (vault_id, flow_id, status)',
    'create index proposals_by_path on proposals (vault_id, path, status)',
    `create table proposal_comments (
      comment_key ${identity},
      proposal_key ${integer} not null references proposals (proposal_key),
      author text not null,
      author_kind text not null,
      body text not null,
      created_at text not null
    )`,
    'create index proposal_comments_by_proposal on proposal_comments (proposal_key, comment_key)',
    `create table flow_mirrors (
      vault_id ${text} not null references vaults (vault_id),
      path ${text} not null,
      flow_id ${text} not null,
      version text not null,
      text_sha256 text not null,
      primary key (vault_id, path),
      unique (vault_id, flow_id)
    )`,
    `create table file_writes (
      write_key ${identity},
      place ${text} not null,
      path ${text} not null,
      text text,
      before_sha256 text,
      flow_id ${text},
      created_at text not null
    )`,
    `create table kept_files (
      place ${text} not null,
      path ${text} not null,
      flow_id ${text},
      kept_at text not null,
      primary key (place, path)
    )`,
    'alter table flow_versions add column proposal_id text',
  ];
}
