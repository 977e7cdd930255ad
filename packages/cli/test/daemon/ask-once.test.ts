import { PawlError } from '@pawl/schema/error';
import { homeAt } from '@pawl/protocol/node/home';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askOnce } from '../../src/daemon/ask-once.ts';
import { palette } from '../../src/terminal/palette.ts';

/** A home, and a way to send a request there whose keys are kept. */
async function aHome() {
  const place = await temporaryDirectory();
  const keys: string[] = [];
  const context = { home: homeAt(join(place.path, 'home')), say: () => {}, colours: palette({}) };
  return {
    keys,
    requests: context.home.requests,
    ask: (command: unknown[], answer: () => Promise<string>) =>
      askOnce(context, command, (key) => {
        keys.push(key);
        return answer();
      }),
    context,
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

const lost = async (): Promise<string> => {
  throw new PawlError('timeout', 'The daemon has said nothing for 60 s.', { hint: 'End it.' });
};
const fox = async () => 'calm-fox';

test('a command repeated after a lost response has the same key; after a good response it has another', async () => {
  await using home = await aHome();
  await expect(home.ask(['work', 'x'], lost)).rejects.toMatchObject({
    code: 'timeout',
    hint: expect.stringMatching(/^End it\. The same command, typed again/) as string,
  });
  expect(await home.ask(['work', 'y'], fox)).toEqual({ answer: 'calm-fox', repeats: false });
  expect(await home.ask(['work', 'x'], fox)).toEqual({ answer: 'calm-fox', repeats: true });
  expect(await home.ask(['work', 'x'], fox)).toEqual({ answer: 'calm-fox', repeats: false });
  const [first, other, again, next] = home.keys;
  expect(again).toBe(first);
  expect(new Set([first, other, next]).size).toBe(3);
  expect(readdirSync(home.requests)).toEqual([]);
});

test('two concurrent identical commands are two requests, and a refusal is a response', async () => {
  await using home = await aHome();
  await Promise.all([1, 2, 3].map(() => home.ask(['work', 'x'], fox)));
  const refused = async (): Promise<string> => {
    throw new PawlError('conflict', 'The alias is taken.');
  };
  await expect(home.ask(['work', 'x'], refused)).rejects.toMatchObject({ code: 'conflict' });
  await home.ask(['work', 'x'], fox);
  expect(new Set(home.keys).size).toBe(5);
});

test('a request lost long ago is forgotten; without a writable home every command has its own key', async () => {
  await using home = await aHome();
  await expect(home.ask(['work', 'x'], lost)).rejects.toThrow();
  const [name = ''] = readdirSync(home.requests);
  const old = Date.now() / 1_000 - 11 * 60;
  utimesSync(join(home.requests, name), old, old);
  expect((await home.ask(['work', 'x'], fox)).repeats).toBe(false);
  expect(existsSync(join(home.requests, name))).toBe(false);
  await using other = await aHome();
  writeFileSync(other.context.home.root, '');
  expect(await other.ask(['work', 'x'], fox)).toEqual({ answer: 'calm-fox', repeats: false });
});
