import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const models = ['anthropic/m', 'openai/m', 'openai-chat/m', 'google/m', 'compatible/m'];

/**
 * Leaves compiled code of the engine in `compiled-engine`, which saves a tenth of its start. The cache knows its files
 * by path, so this runs in the finished directory. Each vendor is called once, on a server that refuses every request.
 */
export async function compileEngine(dist) {
  const place = mkdtempSync(join(tmpdir(), 'pawl-compile-'));
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  mkdirSync(join(dist, 'compiled-engine'), { mode: 0o755 });
  try {
    for (const model of models)
      await callOnce(dist, place, { model, url: `http://127.0.0.1:${server.address().port}/v1` });
  } finally {
    server.close();
    rmSync(place, { recursive: true, force: true });
  }
}

async function callOnce(dist, place, { model, url }) {
  const env = {
    PATH: process.env.PATH,
    HOME: place,
    PAWL_ENGINE_HOME: place,
    PAWL_ENGINE_API_KEY: 'none',
    PAWL_ENGINE_BASE_URL: url,
  };
  const words = [join(dist, 'pawl-engine.mjs'), '--include-partial-messages', '--model', model];
  const engine = spawn(process.execPath, words, { cwd: place, env, stdio: ['pipe', 'ignore', 'ignore'] });
  engine.stdin.on('error', () => {});
  engine.stdin.end('{"type":"user","message":{"role":"user","content":"Hello"}}\n');
  await once(engine, 'close');
}
