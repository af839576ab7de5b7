export const CHATFLOW_SAFETY_REQUIREMENTS: Record<string, string> = {
  'FLR-crash-chatflow':
    'Killed anywhere between intent and version: no second chatflow, no orphan, no lost pre-image, no open intent',
  'FLR-one-of-two-writes': 'Of two writes to the same state of a chatflow one is made and one is refused with 409',
  'FLR-history-in-order': 'What was seen of a server earlier never enters the history after what was written later',
  'FLR-unsettled-write': 'A write of which nothing is known is settled once its time is over, also by a living sender',
  'FLR-flowise-bad-server':
    'Whatever a server answers or fails to answer, operations end in time with a code and lose no snapshot',
  'FLR-flowise-bad-snapshot': 'A damaged snapshot is told, never used, does not stop work and is replaced by a refresh',
  'FLR-flowise-large-flow': 'Large, deep and unreadable flows are handled or refused in bounded time and memory',
  'FLR-flowise-hostile-names': 'Names that objects have anyway, odd ids and terminal escapes have no effect',
  'FLR-no-secret-anywhere':
    'A secret in any input, note, label, setting or name is in no answer, error, event, log line, file or clear row',
  'FLR-secrets-come-back': 'Restore and promote carry every secret whole',
  'FLR-hidden-never-written': 'A draft that holds the sign of a hidden secret is refused, wherever it stands',
  'FLR-digests-bounded': 'What a model is told of a large answer stays within its cap and holds no secret',
};
