import { listenOnSocket, stopListening } from '@pawl/daemon/platform/http/listen';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Leaves a stale socket, as a killed daemon does. */
function leaveSocket(path: string): void {
  const code = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', code, path]);
  expect(statSync(path).isSocket()).toBe(true);
}

const ask = (socketPath: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    request({ socketPath, path: '/' }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
  });

test('a stale socket is replaced by one that only its owner can open [S4-31, W4-02]', async () => {
  await using place = await temporaryDirectory();
  const path = join(place.path, 'pawl.sock');
  leaveSocket(path);
  await expect(ask(path)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  const server = await listenOnSocket((_, response) => void response.writeHead(204).end(), path);
  try {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await ask(path)).toBe(204);
  } finally {
    await stopListening([server]);
  }
});

test('no socket is opened in a directory that others can enter [W4-02]', async () => {
  await using place = await temporaryDirectory();
  const shared = join(place.path, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o750);
  const path = join(shared, 'pawl.sock');
  await expect(listenOnSocket(() => {}, path)).rejects.toMatchObject({ code: 'forbidden' });
  expect(existsSync(path)).toBe(false);
});
