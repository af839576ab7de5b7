import type { TemplateEntry } from './port.ts';

/** The prompt gets three at most; a person may ask for more. */
const MOST = 50;
const TAG_POINTS = 4;
const NAME_POINTS = 3;
const PART_OF_TAG_POINTS = 2;
const DESCRIPTION_POINTS = 1;
/** Shorter words are part of nearly everything. */
const SHORTEST_PART = 3;

/** Templates that fit the tags, best first: whole tags count most, then words of the name, then what only mentions one. */
export function findTemplates(
  templates: readonly TemplateEntry[],
  tags: readonly string[],
  limit = 3,
  type?: string,
): TemplateEntry[] {
  const wanted = [...new Set(tags.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag.length > 1))];
  const scored = templates
    .filter((template) => type === undefined || template.type === type)
    .map((template) => ({ template, score: wanted.reduce((sum, tag) => sum + points(template, tag), 0) }))
    .filter(({ score }) => score > 0);
  scored.sort((left, right) => right.score - left.score || compare(left.template, right.template));
  return scored.slice(0, Math.max(0, Math.min(limit, MOST))).map(({ template }) => template);
}

function points(template: TemplateEntry, tag: string): number {
  const name = template.name.toLowerCase();
  if (name === tag) return TAG_POINTS + NAME_POINTS;
  if (template.tags.includes(tag)) return TAG_POINTS;
  if (tag.length < SHORTEST_PART) return 0;
  if (name.includes(tag)) return NAME_POINTS;
  if (template.tags.some((own) => own.includes(tag))) return PART_OF_TAG_POINTS;
  return template.description.toLowerCase().includes(tag) ? DESCRIPTION_POINTS : 0;
}

function compare(left: TemplateEntry, right: TemplateEntry): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : left.type < right.type ? -1 : 1;
}
