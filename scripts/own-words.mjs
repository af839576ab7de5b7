// What makes a reference ours: facts stay, sentences go or are replaced by those of baseline-words.yaml.

/** Sentences that Flowise shows beside a field, and examples. */
const PROSE = ['description', 'hint', 'warning', 'placeholder', 'deprecateMessage', 'documentation', 'codeExample'];
/** A default of more characters is a text, not a fact. */
const SHORT = 60;

/** @param {any} node @param {any} words */
export function inOwnWords(node, words) {
  const ours = words.defaults[node.node_type] ?? {};
  const used = new Set();
  const input = (one) => {
    const kept = bare(one);
    for (const key of ['options', 'array', 'tabs']) {
      if (Array.isArray(kept[key]))
        kept[key] = kept[key].map((below) => (typeof below === 'object' ? input(below) : below));
    }
    const isText = typeof kept.default === 'string' && kept.default.length > SHORT && isProse(kept.default);
    if (isText && ours[kept.name] === undefined) {
      throw new Error(`baseline-words.yaml lacks the default ${node.node_type}.${kept.name}`);
    }
    if (kept.default !== undefined && ours[kept.name] !== undefined) {
      if (isText) assertSamePlaces(kept.default, ours[kept.name], `${node.node_type}.${kept.name}`);
      kept.default = ours[kept.name];
      used.add(kept.name);
    }
    return kept;
  };
  const { description: _, ...rest } = bare(node);
  const own = { ...rest };
  own.input_anchors = node.input_anchors.map(input);
  own.input_params = node.input_params.map(input);
  own.output_anchors = node.output_anchors.map(bare);
  if (node.credential) own.credential = bare(node.credential);
  if (words.nodes[node.node_type]) own.description = words.nodes[node.node_type];
  if (used.size > 0) own.own_defaults = [...used];
  for (const name of Object.keys(ours)) {
    if (!used.has(name))
      throw new Error(`baseline-words.yaml has a default that nobody uses: ${node.node_type}.${name}`);
  }
  return own;
}

/** @param {any} template @param {any} words */
export function templateInOwnWords(template, words) {
  return { ...template, description: words.templates[template.type]?.[template.name] ?? '' };
}

function bare(record) {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !PROSE.includes(key)));
}

/** Sentences and code have blanks; model names and addresses have none, and a lone variable is none either. */
function isProse(text) {
  return /\s/.test(text.trim()) && !/^<p><span class="variable"[^>]*>\{\{ ?\w+ ?\}\}<\/span> ?<\/p>$/.test(text);
}

/** A prompt that lost a place to fill in would make the node fail or ignore what it was given. */
function assertSamePlaces(theirs, ours, where) {
  const places = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort().join(' ');
  if (ours.trim() === '') throw new Error(`baseline-words.yaml: ${where} must not be empty`);
  if (places(theirs) !== places(ours)) throw new Error(`baseline-words.yaml: ${where} must hold ${places(theirs)}`);
}
