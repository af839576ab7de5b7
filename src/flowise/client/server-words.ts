import type { Answer } from './transport.ts';

/** What an answer that is no success says, before anything is hidden in it. */
export function serverWords({ contentType, text }: Answer): string {
  if (isHtml(contentType, text)) return pageTitle(text);
  const parsed = parsedJson(text);
  return parsed === undefined ? text : (messageOf(parsed) ?? text);
}

/** A page, whatever it is called: Flowise also sends bare words such as pong as HTML. */
export function isHtml(contentType: string, text: string): boolean {
  const start = text.slice(0, 200).trimStart();
  return /^<(?:!doctype|html)/i.test(start) || (contentType.includes('html') && start.startsWith('<'));
}

export function isJson(contentType: string): boolean {
  return contentType === '' || /[/+]json\b/.test(contentType);
}

/** Undefined when it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Is it the envelope that Flowise itself puts around errors, rather than the words of something that stands before it? */
export function isFromFlowise({ contentType, text }: Answer): boolean {
  const parsed = isJson(contentType) ? parsedJson(text) : undefined;
  const { success, statusCode } = (parsed ?? {}) as { success?: unknown; statusCode?: unknown };
  return success === false && typeof statusCode === 'number';
}

/** {message}, {error} and {statusCode, success, message, stack}: Flowise has all three; the stack is left out. */
function messageOf(parsed: unknown): string | null {
  if (typeof parsed === 'string') return parsed;
  if (parsed === null || typeof parsed !== 'object') return null;
  const { message, error } = parsed as { message?: unknown; error?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  if (typeof error === 'string' && error !== '') return error;
  if (message !== undefined && message !== null) return messageOf(message);
  return error === undefined || error === null ? null : messageOf(error);
}

function pageTitle(html: string): string {
  const [, title = ''] = /<title[^>]*>([^<]{0,300})/i.exec(html.slice(0, 4_096)) ?? [];
  return title.trim() === '' ? 'a web page' : `a web page, ${title.trim()}`;
}
