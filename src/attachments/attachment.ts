/** A stored file, as everything that refers to it carries it. */
export interface Attachment {
  id: number;
  file_name: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
}
