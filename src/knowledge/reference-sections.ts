/** A problem in the reference, with the line in which it stands. */
export interface ReferenceIssue {
  code: string;
  message: string;
  line: number;
  node_type?: string;
}

/** What the headings above a block say. */
export interface Said {
  node_type: string;
  label: string;
  category: string;
}

export interface Section {
  said: Said;
  /** Line of the heading. */
  line: number;
  block: string;
  /** First line of the block's text. */
  blockLine: number;
}

interface Fence {
  mark: string;
  length: number;
  isYaml: boolean;
  line: number;
  text: string[];
}

const CATEGORY = /^## +(.*?)(?: +\(\d+\))? *$/;
const NODE = /^### +(.*?) *\(`([^`]+)`\) *$/;
const OTHER_HEADING = /^(#{1,3}) +/;
const OPENING = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/;

/** What the parser will make of two headings; whatever they cannot hold has to stand in the block. */
export function readHeadings(category: string, node: string): Said {
  const [, label = '', node_type = ''] = NODE.exec(node) ?? [];
  return { node_type, label, category: CATEGORY.exec(category)?.[1] ?? '' };
}

interface Open {
  said: Said;
  line: number;
  block?: { text: string; line: number };
}

/**
 * Walks the lines of a reference. Headings count only outside fences, and a fence ends at the first line that holds
 * nothing but at least as many of the same marks: so neither dashes, bars nor shorter fences inside a block end it.
 */
export function findSections(markdown: string): { sections: Section[]; issues: ReferenceIssue[] } {
  const sections: Section[] = [];
  const issues: ReferenceIssue[] = [];
  let category = '';
  let open: Open | undefined;
  let fence: Fence | undefined;

  const close = () => {
    if (!open) return;
    const { said, line, block } = open;
    if (block) sections.push({ said, line, block: block.text, blockLine: block.line });
    else {
      const message = `${said.node_type} has no YAML block. Add one, or remove the heading.`;
      issues.push({ code: 'missing_block', message, line, node_type: said.node_type });
    }
    open = undefined;
  };

  const take = ({ isYaml, line, text }: Fence) => {
    if (!isYaml || !open) return;
    if (open.block) {
      const { node_type } = open.said;
      const message = `${node_type} has a second YAML block. Put everything into the first.`;
      issues.push({ code: 'second_block', message, line, node_type });
    } else open.block = { text: text.map((one) => `${one}\n`).join(''), line: line + 1 };
  };

  const lines = markdown.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [at, text] of lines.entries()) {
    const line = at + 1;
    if (fence) {
      if (endsFence(text, fence)) {
        take(fence);
        fence = undefined;
      } else fence.text.push(text);
      continue;
    }
    const opening = OPENING.exec(text);
    if (opening) {
      const [, marks = '', language = ''] = opening;
      const isYaml = /^ya?ml$/i.test(language.trim());
      fence = { mark: marks[0] ?? '`', length: marks.length, isYaml, line, text: [] };
      continue;
    }
    if (!OTHER_HEADING.test(text)) continue;
    close();
    const node = NODE.exec(text);
    const heading = CATEGORY.exec(text);
    if (node) open = { said: { label: node[1] ?? '', node_type: node[2] ?? '', category }, line };
    else if (heading) category = heading[1] ?? '';
    else if (text.startsWith('###')) {
      const message = 'This heading names no node. Write it as ### Label (`name`), or use four # for prose.';
      issues.push({ code: 'bad_heading', message, line });
    }
  }
  if (fence) {
    issues.push({ code: 'open_fence', message: 'This block is never closed.', line: fence.line });
    open = undefined;
  }
  close();
  return { sections, issues };
}

function endsFence(text: string, { mark, length }: Fence): boolean {
  const marks = /^ {0,3}(`+|~+)[ \t]*$/.exec(text)?.[1];
  return marks !== undefined && marks[0] === mark && marks.length >= length;
}
