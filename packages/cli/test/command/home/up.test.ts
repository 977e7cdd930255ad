import { temporaryDirectory } from '@pawl/testing/temporary';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { down } from '../../../src/command/home/down.ts';
import { up } from '../../../src/command/home/up.ts';
import { keptContext } from '../kept-context.ts';

test('a killed daemon that accepts a last connection is replaced', async () => {
  await using place = await temporaryDirectory();
  const { context, texts } = keptContext(join(place.path, 'home'));
  const dying = createServer((socket) => socket.destroy());
  try {
    expect(await up(context, {})).toBe(0);
    await down(context);
    let accepted = 0;
    dying.on('connection', () => (accepted += 1));
    dying.listen(context.home.socket);
    await once(dying, 'listening');
    expect(await up(context, {})).toBe(0);
    expect(accepted).toBeGreaterThan(0);
    expect(texts.at(-1)).toMatch(/^pawl is up /);
  } finally {
    await down(context);
    // It removes the socket's path, which the new daemon had until now.
    dying.close();
  }
});
