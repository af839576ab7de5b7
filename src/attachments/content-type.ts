const BINARY = 'application/octet-stream';
const TEXT = 'text/plain; charset=utf-8';

const BY_EXTENSION: Record<string, string> = {
  txt: TEXT,
  log: TEXT,
  md: 'text/markdown; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  xml: 'application/xml',
  pdf: 'application/pdf',
  zip: 'application/zip',
  gz: 'application/gzip',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
};

/** `type/subtype` with plain parameters: nothing that could end a header. */
export const CONTENT_TYPE_RE = /^[\w!#$&^.+-]{1,63}\/[\w!#$&^.+-]{1,127}(?:; ?[\w-]{1,32}=[\w.+-]{1,64}){0,4}$/;

/** What a file probably holds, by its name; `otherwise` for a name that tells nothing. */
export function guessContentType(fileName: string, otherwise = BINARY): string {
  const extension = /\.([a-z0-9]{1,8})$/i.exec(fileName)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined) ?? otherwise;
}

export function guessTextType(fileName: string): string {
  return guessContentType(fileName, TEXT);
}

/** The type under which a browser is given the file: never one that it would run as a page of ours. */
export function servedContentType(contentType: string): string {
  if (!CONTENT_TYPE_RE.test(contentType)) return BINARY;
  return /html|xml|script|svg|multipart/i.test(contentType) ? BINARY : contentType;
}
