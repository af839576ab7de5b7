import type { FlowNode } from '../flow/model.ts';
import type { Surroundings } from './check-nodes.ts';
import { type Component, componentsOf } from './components.ts';
import { type Findings, step, type Where } from './flow-view.ts';
import { paramsOf } from './handles.ts';
import { mention } from './kinds.ts';
import { isPlaceholder } from './values.ts';

/** Has a node its credential, and every component that it runs? Are they credentials of this server? */
export function checkCredentials(node: FlowNode, path: string, known: Surroundings, findings: Findings): void {
  const { credential } = node.data;
  const where = { path: `${path}/data/credential`, subject: `${node.id} ${String(credential ?? '')}` };
  if (isUnset(credential)) {
    const param = paramsOf(node).find(({ type }) => type === 'credential');
    if (param && param.optional !== true) {
      const message = `${mention(node)} needs a credential${namesText(param.credentialNames)}; bind one.`;
      findings.incomplete('credential_missing', where, message);
    }
  } else checkBound(credential, mention(node), where, known, findings);
  if (!known.schemas) return;
  for (const component of componentsOf(node, known.schemas)) checkComponent(node, component, path, known, findings);
}

function checkComponent(
  node: FlowNode,
  { type, place, credentialNames, needsCredential, credential }: Component,
  path: string,
  known: Surroundings,
  findings: Findings,
): void {
  const where = {
    path: `${path}/data/inputs/${place.map(step).join('/')}`,
    subject: `${node.id} ${place.join(' ')} ${String(credential ?? type)}`,
  };
  const who = `${type} in ${mention(node)}`;
  if (!isUnset(credential)) checkBound(credential, who, where, known, findings);
  else if (needsCredential) {
    // bind_credential reaches what a node runs itself; rows of lists are set as a whole.
    const what = place.length === 1 ? 'bind one' : `set credential and FLOWISE_CREDENTIAL_ID in ${place.join('.')}`;
    findings.incomplete(
      'credential_missing',
      where,
      `${who} needs a credential${namesText(credentialNames)}; ${what}.`,
    );
  }
}

function checkBound(credential: unknown, who: string, where: Where, known: Surroundings, findings: Findings): void {
  if (typeof credential !== 'string' || isPlaceholder(credential)) {
    findings.error('credential_unresolved', where, `The credential of ${who} is not an id; bind a stored one.`);
  } else if (known.credentials && !known.credentials.has(credential)) {
    const message = `The credential ${credential.slice(0, 80)} of ${who} is not on this server; bind another.`;
    findings.error('credential_unknown', where, message);
  }
}

function isUnset(credential: unknown): boolean {
  return credential === undefined || credential === null || credential === '';
}

function namesText(names: unknown): string {
  return Array.isArray(names) && names.length > 0 ? ` (${names.join(' or ')})` : '';
}
