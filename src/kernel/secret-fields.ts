/**
 * Whether a field holds a secret, told by its name. Stricter than `isSecretName`, which serves the log and may hide too
 * much: here `maxTokens`, `memoryKey` or `tokenUrl` have to stay readable, because people decide by them.
 */
const SECRET_WORD =
  /^(?:.*(?:secrets?|passwords?|passwd|passphrase|apikeys?|accesskey|privatekey|secretkey|authkey|authtoken|accesstoken|bearertoken|refreshtoken)|token|pwd|pass|authorization|cookies?|bearer|jwt|sig|credentials)$/;

/** `api key` is a secret, `memory key` is the name of a field. */
const KEY_OWNERS = new Set(
  'api access private secret account auth encryption signing subscription client master service shared admin license storage consumer ssh ssl tls rsa aes hmac application app bot function functions webhook server'.split(
    ' ',
  ),
);

/** `openai_key`: whoever sells a service hands out keys to it. */
const KEY_SELLERS = new Set(
  'ai openai anthropic claude gemini google azure aws gcp mistral cohere groq deepseek openrouter together replicate perplexity nvidia huggingface hf voyage jina pinecone qdrant weaviate supabase firebase algolia serper serpapi tavily exa firecrawl stripe twilio sendgrid mailgun slack github gitlab notion langsmith langfuse elevenlabs deepgram assemblyai'.split(
    ' ',
  ),
);

/** Many a token is counted, but these are held. */
const TOKEN_OWNERS = new Set(['access', 'api', 'auth', 'bearer', 'bot', 'refresh', 'user']);

/** What a name ends with that speaks about a secret without being one. */
const ABOUT = new Set(
  'limit limits count counts counter size path type types field fields header headers length usage budget id ids ttl expiry prefix enabled required name names label description placeholder title url uri endpoint model splitter version format message prompt status mode'.split(
    ' ',
  ),
);

/** An environment variable that ends so holds a key, but for these. */
const ENVIRONMENT_KEY = /^[A-Z][A-Z0-9_]*_KEY$/;
const OPEN_KEYS = new Set(['public', 'primary', 'foreign', 'partition', 'sort', 'cache', 'memory']);

const HEADER_SECRET = /(?:key|token|secret|auth|authorization|cookie2?|password|signature|session|credentials?)$/i;

/** openAIApiKey → open, ai, api, key. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

export function isSecretField(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const secret = judge(name);
  if (judged.size < MOST_JUDGED && name.length <= 64) judged.set(name, secret);
  return secret;
}

/** The same few hundred names come again with every flow. */
const judged = new Map<string, boolean>();
const MOST_JUDGED = 5_000;

function judge(name: string): boolean {
  // Nothing but a header is called so.
  if (/^x-/i.test(name)) return isSecretHeader(name);
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  if (ABOUT.has(last)) return false;
  if (last === 'auth' || words.some((word) => SECRET_WORD.test(word))) return true;
  const owner = words.at(-2) ?? '';
  if (/^keys?$/.test(last)) {
    return KEY_OWNERS.has(owner) || KEY_SELLERS.has(owner) || (ENVIRONMENT_KEY.test(name) && !OPEN_KEYS.has(owner));
  }
  return last === 'tokens' && TOKEN_OWNERS.has(owner);
}

/** A key of which its name does not tell whose it is; only its value can say whether it is one. */
export function isSomeKey(name: string): boolean {
  const words = wordsOf(name);
  return words.length > 1 && words.at(-1) === 'key' && !OPEN_KEYS.has(words.at(-2) ?? '');
}

/** In headers every key, token and signature is a secret, whoever it belongs to. */
export function isSecretHeader(name: string): boolean {
  return HEADER_SECRET.test(name.trim());
}

/** Does this field hold headers: `headers`, `requestsGetHeaders`? */
export function holdsHeaders(name: string): boolean {
  return /headers$/i.test(name) && wordsOf(name).at(-1) === 'headers';
}
