// Turns answers recorded from a real Flowise into fixtures: names, types, anchors, handles, positions and short
// defaults are facts and stay; prose (descriptions, hints, notes, prompts, code) is left out or replaced by a marker
// that keeps its {placeholders}. Stripping what is stripped already changes nothing.
//
//   node scripts/strip-recordings.mjs RECORDINGS_DIR [OUT_DIR]
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A text longer than this is prose, whatever field it stands in. */
export const LONGEST_TEXT = 200;
const LONGEST_PLACEHOLDER = 60;
/** Values that people filled in: beyond so many words they wrote a sentence. */
const MOST_WORDS = 9;

const PROSE_FIELDS = new Set(['description', 'hint', 'warning', 'codeExample', 'deprecateMessage', 'tagline']);
const PATH_FIELDS = new Set(['filePath', 'icon', 'iconSrc']);
const LEFT_OUT = 'Text left out.';
const NOTE_LEFT_OUT = 'Note left out.';
const CODE_LEFT_OUT = "return ''";
const CODE_FIELDS = /^(func|customCode|customFunction.*|javascriptFunction|exampleJson|.*JavascriptFunction)$/;

/** The same text without its prose: JSON stays JSON, code stays code, and the names in braces stay. */
function withoutProse(text, key) {
  if (CODE_FIELDS.test(key)) return CODE_LEFT_OUT;
  const trimmed = text.trim();
  if (isJson(trimmed)) return trimmed.startsWith('[') ? '[]' : '{}';
  const names = [...new Set(text.match(/\{\{[^{}]{1,80}\}\}|\{[A-Za-z_]\w{0,40}\}/g) ?? [])];
  return [LEFT_OUT, ...names].join(' ');
}

function isJson(text) {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isProse(text) {
  return text.length > LONGEST_TEXT || text.trim().split(/\s+/).length > MOST_WORDS;
}

/** A definition: what a field means decides whether it stays. */
function stripDefinition(value, key = '') {
  if (Array.isArray(value)) return value.map((item) => stripDefinition(item, key));
  if (value === null || typeof value !== 'object') {
    if (typeof value !== 'string') return value;
    const stays = key === 'fileType' || key === 'documentation' || key === 'type';
    return !stays && value.length > LONGEST_TEXT ? withoutProse(value, key) : value;
  }
  const kept = {};
  for (const [field, inner] of Object.entries(value)) {
    if (PATH_FIELDS.has(field)) continue;
    if (PROSE_FIELDS.has(field)) continue;
    if (field === 'placeholder' && String(inner).length > LONGEST_PLACEHOLDER) continue;
    if (field === 'default' && typeof inner === 'string' && isProse(inner)) {
      kept[field] = withoutProse(inner, field);
      continue;
    }
    kept[field] = stripDefinition(inner, field);
  }
  return kept;
}

/** Values filled in by people; every field stays, sentences do not. */
function stripValues(value, key = '') {
  if (Array.isArray(value)) return value.map((item) => stripValues(item, key));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, stripValues(inner, field)]));
  }
  if (typeof value !== 'string') return value;
  if (CODE_FIELDS.test(key) && value !== '') return CODE_LEFT_OUT;
  return isProse(value) ? withoutProse(value, key) : value;
}

function stripNode(node) {
  const { data = {}, ...rest } = node;
  const { inputs, ...definition } = data;
  const stripped = stripDefinition(definition);
  if (inputs !== undefined) {
    stripped.inputs = stripValues(inputs);
    if (typeof inputs.note === 'string') stripped.inputs.note = NOTE_LEFT_OUT;
    stripped.inputs = inFieldOrder(stripped.inputs, inputs);
  }
  return inFieldOrder({ ...stripDefinition(rest), data: inFieldOrder(stripped, data) }, node);
}

function inFieldOrder(object, like) {
  return Object.fromEntries(
    Object.keys(like)
      .filter((field) => field in object)
      .map((field) => [field, object[field]]),
  );
}

function stripFlow(flow) {
  const kept = {};
  for (const [field, value] of Object.entries(flow)) {
    if (field === 'nodes') kept.nodes = value.map(stripNode);
    else if (field === 'edges') kept.edges = value;
    else if (!PROSE_FIELDS.has(field)) kept[field] = stripDefinition(value, field);
  }
  return kept;
}

function parsedFlow(flowData) {
  return typeof flowData === 'string' ? JSON.parse(flowData) : flowData;
}

/** Ids of templates are random on every request and say nothing. */
function stripTemplate({ id: _random, flowData, func, schema, ...rest }) {
  const kept = stripDefinition(rest);
  if (flowData !== undefined) kept.flowData = stripFlow(parsedFlow(flowData));
  if (schema !== undefined) kept.schema = JSON.stringify(stripDefinition(JSON.parse(schema)));
  if (func !== undefined) kept.func = CODE_LEFT_OUT;
  return kept;
}

function stripChatflow(chatflow) {
  if (chatflow.flowData === undefined) return stripFlow(chatflow);
  return { ...chatflow, flowData: stripFlow(parsedFlow(chatflow.flowData)) };
}

/** One entry a line, so that a change of one node is a change of one line. */
function lines(entries) {
  return `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}

function flowLines(chatflow) {
  const { flowData, ...head } = chatflow.flowData === undefined ? { flowData: chatflow } : chatflow;
  const { nodes, edges, ...fields } = flowData;
  const flow = `${JSON.stringify({ ...fields }).slice(0, -1)}${Object.keys(fields).length > 0 ? ',' : ''}
"nodes":${lines(nodes).trimEnd()},
"edges":${lines(edges).trimEnd()}}`;
  if (chatflow.flowData === undefined) return `${flow}\n`;
  return `${JSON.stringify(head).slice(0, -1)},\n"flowData":${flow}}\n`;
}

/** File name → text of the fixture, for every recording that is there. */
export function stripRecordings(folder) {
  const read = (file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const fixtures = new Map();
  for (const file of readdirSync(folder).sort()) {
    if (file === 'nodes.json' || file === 'components-credentials.json') {
      fixtures.set(file, lines(stripDefinition(read(file))));
    } else if (file === 'templates.json') {
      fixtures.set(file, lines(read(file).map(stripTemplate)));
    } else if (/^(chatflow-(working|rag|toolagent|llmchain)|agentflow-\w+)\.json$/.test(file)) {
      fixtures.set(file, flowLines(stripChatflow(read(file))));
    }
  }
  return fixtures;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, out = fileURLToPath(new URL('../test/fixtures/flowise', import.meta.url))] = process.argv.slice(2);
  if (!folder) {
    console.error('usage: node scripts/strip-recordings.mjs RECORDINGS_DIR [OUT_DIR]');
    process.exit(2);
  }
  mkdirSync(out, { recursive: true });
  for (const [file, text] of stripRecordings(folder)) {
    writeFileSync(path.join(out, file), text);
    console.log(`${file}: ${text.length} bytes`);
  }
}
