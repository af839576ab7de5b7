/** How large a graph and its texts may be. */
export const MAX_NODES = 10_000;
export const MAX_EDGES = 40_000;
export const MAX_CONFIG_BYTES = 65_536;
export const MAX_TITLE = 255;
export const MAX_LABEL = 255;
export const MAX_CONDITION_KEY = 128;
export const MAX_HANDLE = 32;
export const MAX_CLIENT_ID = 128;
export const MAX_BINDINGS = 100;
export const MAX_CONTROL_POINTS = 24;
/** Further out, a canvas cannot show it and a float loses its decimals. */
export const MAX_COORDINATE = 1_000_000_000;
/** An answer stays readable, however much is wrong. */
export const MAX_ISSUES = 500;

export const MAX_NAME = 255;
export const MAX_DESCRIPTION = 512;
export const DEFAULT_PARALLEL_NODES = 8;
