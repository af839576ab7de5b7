/** How large a note and its parts may be, in bytes of UTF-8. */
export const MAX_PATH_BYTES = 1_024;
export const MAX_SEGMENT_BYTES = 255;
/** Each new folder on the way has to reach the disk before the note does. */
export const MAX_SEGMENTS = 64;
export const MAX_BODY_BYTES = 1_048_576;
/** Of the front block as JSON; as YAML the same values may take more room. */
export const MAX_FRONTMATTER_BYTES = 65_536;
export const MAX_FRONT_BLOCK_BYTES = 262_144;
export const MAX_FRONTMATTER_DEPTH = 16;
/** Written by hand, a note may be larger than what may be sent. */
export const MAX_FILE_BYTES = 4_194_304;

export const MAX_NOTES_PER_PAGE = 200;
export const DEFAULT_NOTES_PER_PAGE = 50;
/** Folders that one page of a list may open before it hands out a cursor. */
export const MAX_FOLDERS_PER_PAGE = 2_000;
