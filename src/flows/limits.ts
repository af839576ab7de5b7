/** Flows a list returns at most; more matches set `truncated`. */
export const MAX_FLOW_SUMMARIES = 200;
/** Steps a flow may have; a longer stored one is cut on reading and marked `truncated`. */
export const MAX_STEPS_PER_FLOW = 100;
export const MAX_TAGS = 32;
export const MAX_TITLE = 200;
export const MAX_SUMMARY = 2_000;
export const MAX_TEXT = 8_000;
export const MAX_REF_ID = 256;
export const MAX_TAG = 64;
export const MAX_NAME = 64;
export const MAX_LIST_ITEMS = 64;
export const MAX_VERSION = 64;
export const MAX_BUNDLE_BYTES = 1_048_576;
