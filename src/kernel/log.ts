/** The log port: a sentence and fields. The hub writes JSON lines with pino; commands write plain lines to stderr. */
export interface Log {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/** For commands: only warnings and errors, as plain sentences on stderr. */
export const stderrLog: Log = {
  info: () => {},
  warn: (_fields, message) => void process.stderr.write(`warning: ${message}\n`),
  error: (_fields, message) => void process.stderr.write(`error: ${message}\n`),
};

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
