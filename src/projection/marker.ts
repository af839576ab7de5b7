/** Moves only when the same flow renders to other bytes. */
export const PROJECTION_GENERATOR_VERSION = '1';
export const GENERATED_MARKER_PREFIX = 'GENERATED FROM CANONICAL FLOW';

/** Text from flows has no bare angle bracket, so no flow can write a comment that reads as this one. */
const MARKER_RE = new RegExp(
  `^<!-- ${GENERATED_MARKER_PREFIX} (flow_[a-z0-9_]{1,64})@(\\d+\\.\\d+\\.\\d+) \\(generator v(\\d+)\\)[^\\n]* -->$`,
  'm',
);

/** The comment that tells people and `--check` where a file comes from. */
export function markerComment(flow: { flow_id: string; version: string }): string {
  const source = `${flow.flow_id}@${flow.version} (generator v${PROJECTION_GENERATOR_VERSION})`;
  return `<!-- ${GENERATED_MARKER_PREFIX} ${source}: do not edit; change the flow and run \`flowright flow project\` again -->`;
}

export interface Marker {
  flow_id: string;
  version: string;
  generator_version: string;
}

/** What a file's marker says; null when it has none, and so was not generated. */
export function readMarker(text: string): Marker | null {
  const match = MARKER_RE.exec(text.replaceAll('\r\n', '\n'));
  if (!match) return null;
  const [, flow_id = '', version = '', generator_version = ''] = match;
  return { flow_id, version, generator_version };
}

/** The text with its marker, whatever it says, replaced by one that is always the same. */
export function withoutMarker(text: string): string {
  return text.replace(MARKER_RE, `<!-- ${GENERATED_MARKER_PREFIX} -->`);
}
