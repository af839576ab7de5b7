// A model server for Flowise's OpenAI nodes: completions whole or streamed, one tool call when the question asks to
// calculate and a tool is offered, embeddings. A model named err-404 is refused with that status.
//   node scripts/flowise/model-server.mjs PORT
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const DIMENSIONS = 64;
const CREATED = 1_760_000_000;

export async function startModelServer(port = 0) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
    requests.push({ path: request.url, authorization: request.headers.authorization, body });
    const reply = (status, value) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const refused = /^err-(\d{3})$/.exec(body.model ?? '')?.[1];
    if (refused) return reply(Number(refused), { error: { message: `scripted ${refused}`, type: 'scripted' } });
    if (request.url.endsWith('/chat/completions')) return complete(body, response, reply);
    if (request.url.endsWith('/embeddings')) return reply(200, embeddings(body));
    if (request.url.endsWith('/models'))
      return reply(200, { object: 'list', data: [{ id: 'scripted', object: 'model' }] });
    return reply(404, { error: { message: `no route ${request.url}` } });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function messageFor({ messages = [], tools = [] }) {
  const last = messages.at(-1);
  const said = typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content ?? '');
  if (tools.length > 0 && last?.role === 'user' && /calc/i.test(said)) {
    const call = { name: tools[0].function.name, arguments: JSON.stringify({ input: '2+3' }) };
    return { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: call }] };
  }
  return { role: 'assistant', content: `Heard as message ${messages.length}: ${said}` };
}

function complete(body, response, reply) {
  const message = messageFor(body);
  const reason = message.tool_calls ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
  const head = { id: 'chatcmpl-scripted', created: CREATED, model: body.model };
  if (!body.stream) {
    const choices = [{ index: 0, message, finish_reason: reason }];
    return reply(200, { ...head, object: 'chat.completion', choices, usage });
  }
  const event = (fields) =>
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })}\n\n`);
  const delta = (part, finish_reason = null) => event({ choices: [{ index: 0, delta: part, finish_reason }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (message.tool_calls) {
    delta({ role: 'assistant', content: null, tool_calls: [{ index: 0, ...message.tool_calls[0] }] });
  } else {
    delta({ role: 'assistant', content: '' });
    for (const word of message.content.split(/(?<= )/)) delta({ content: word });
  }
  delta({}, reason);
  if (body.stream_options?.include_usage) event({ choices: [], usage });
  return response.end('data: [DONE]\n\n');
}

/** How often each character occurs: the same text is nearest to itself. */
function embeddings({ input, encoding_format, model }) {
  const data = [input].flat().map((text, index) => {
    const vector = new Float32Array(DIMENSIONS);
    for (const character of String(text)) vector[character.charCodeAt(0) % DIMENSIONS] += 1;
    const embedding = encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  return { object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startModelServer(Number(process.argv[2] ?? 0));
  console.log(url);
}
