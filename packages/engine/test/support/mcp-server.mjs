// A small MCP server on stdin and stdout. Its first argument chooses how it behaves.
import { createInterface } from 'node:readline';
import { appendFileSync } from 'node:fs';

const [behaviour = 'plain', note = ''] = process.argv.slice(2);
if (note !== '') appendFileSync(note, `${process.pid}\n`);
if (behaviour === 'mute') setInterval(() => {}, 1000);
if (behaviour === 'dies-at-once') {
  process.stderr.write('no such database');
  process.exit(3);
}
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const schema = { type: 'object', properties: { text: { type: 'string' } } };
const tools = [
  'echo',
  'env',
  'die',
  'flood',
  'wait',
  'ask',
  'image',
  'a tool with a very long and odd name, which no vendor would take as it is',
].map((name) => ({ name, description: `Does ${name}.`, inputSchema: schema }));
tools.push({ name: 'broken', inputSchema: 'none' });
const text = (words) => ({ content: [{ type: 'text', text: words }] });

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result, error } = JSON.parse(line);
  if (behaviour === 'mute') continue;
  if (method === 'initialize') {
    process.stdout.write('a line that is not of the protocol\n');
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 't', version: '1' },
      },
    });
  } else if (method === 'tools/list') {
    const first = params.cursor === undefined;
    send({ id, result: first ? { tools: tools.slice(0, 2), nextCursor: 'rest' } : { tools: tools.slice(2) } });
  } else if (method === 'tools/call') {
    const { name, arguments: given } = params;
    if (name === 'echo') send({ id, result: text(`heard ${given.text}`) });
    else if (name === 'env') send({ id, result: text(JSON.stringify(process.env)) });
    else if (name === 'die') process.kill(process.pid, 'SIGKILL');
    else if (name === 'flood') process.stdout.write('x'.repeat(9 * 1024 * 1024));
    else if (name === 'ask') {
      send({ id: 'q', method: 'sampling/createMessage', params: {} });
      globalThis.asked = id;
    } else if (name === 'image') {
      send({ id, result: { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }], isError: false } });
    } else if (name !== 'wait') send({ id, error: { code: -32602, message: `no tool ${name}` } });
  } else if (method === 'notifications/cancelled') appendFileSync(note, `cancelled ${params.requestId}\n`);
  else if (id === 'q')
    send({ id: globalThis.asked, result: text(`answer: ${result === undefined ? error.code : 'yes'}`) });
}
