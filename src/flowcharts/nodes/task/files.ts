import type { Attachment } from '../../../attachments/index.ts';
import type { Message } from '../../../llm/index.ts';
import type { NodeExecution } from '../node-type.ts';
import { cut } from './context-text.ts';

const MAX_TEXT_BYTES = 16_384;
const MAX_TEXT_FILES = 8;
const MAX_IMAGES = 8;
const MAX_IMAGE_BYTES = 5 * 1_048_576;
const MAX_NAMED = 50;
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const TEXTS = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|sql|csv)\b|[^;]*\+(json|xml|yaml)\b)/;

type Images = NonNullable<Message['files']>;

/** Files as a model gets them: the text of texts, images as such, of everything else the name. */
export async function filesFor({ attachments, services }: NodeExecution): Promise<{ text: string; images: Images }> {
  const parts: string[] = [];
  const images: Images[number][] = [];
  let texts = 0;
  for (const file of attachments.slice(0, MAX_NAMED)) {
    if (IMAGES.includes(file.content_type) && file.size_bytes <= MAX_IMAGE_BYTES && images.length < MAX_IMAGES) {
      images.push({
        file_name: file.file_name,
        content_type: file.content_type,
        content: await services.attachments.read(file),
      });
      parts.push(`${nameOf(file)}: shown as an image`);
    } else if (TEXTS.test(file.content_type) && texts < MAX_TEXT_FILES) {
      texts += 1;
      parts.push(`<file name=${JSON.stringify(nameOf(file))}>\n${await textOf(file, services)}\n</file>`);
    } else {
      parts.push(`${nameOf(file)} (${file.content_type}, ${file.size_bytes} bytes): not shown`);
    }
  }
  if (attachments.length > MAX_NAMED) parts.push(`(${attachments.length - MAX_NAMED} more files were left out)`);
  return { text: parts.join('\n'), images };
}

async function textOf(file: Attachment, services: NodeExecution['services']): Promise<string> {
  const bytes = await services.attachments.read(file);
  const text = bytes.subarray(0, MAX_TEXT_BYTES).toString('utf8');
  const rest = bytes.length - MAX_TEXT_BYTES;
  // The text must not end the block it stands in.
  const inert = text.replaceAll('</file', '<\\/file').replaceAll('</context', '<\\/context');
  return rest > 0 ? `${inert}\n…(${rest} bytes left out)` : inert;
}

function nameOf({ file_name }: Attachment): string {
  return cut(file_name.replace(/[\p{Cc}<>]/gu, '_'), 200);
}
