import { noteAcked, noteDead, noteDelivered } from '@pawl/daemon/mail/receipts';
import { keepMirror } from '@pawl/daemon/mail/files/mirror';
import { pruneMailboxes } from '@pawl/daemon/mail/files/prune-mailboxes';
import { storeBody } from '@pawl/daemon/mail/mail-body';
import { recordMail } from '@pawl/daemon/mail/mail-record';
import { limits } from '@pawl/schema/limit';
import { updateAgent } from '@pawl/store/agents/agents';
import { daemonState } from '@pawl/store/facts/daemon-state';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openMailHome } from '../../support/mail-home.ts';

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

describe('each mail is a file [S4-15]', () => {
  test('under its project and recipient, with the known fields, private, and with the mail’s state [S4-29]', async () => {
    await using place = await openMailHome();
    const { platform, store, home, fox, owl, root } = place;
    const mirror = keepMirror(platform);
    const mail = await place.send(fox, owl, 'hello\n"there"');
    const toPerson = await place.send(fox, root, 'for the person');
    await mirror.settle();
    const path = join(home.messages, 'shop', 'old-owl', `${mail.id}.json`);
    const file = readJson(path);
    expect(file).toEqual({
      id: mail.id,
      from: 'calm-fox',
      to: 'old-owl',
      timestamp: new Date(mail.createdAt).toISOString(),
      body: 'hello\n"there"',
      status: 'pending',
      kind: 'message',
      from_id: fox.id,
      to_id: owl.id,
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect(existsSync(join(home.messages, 'shop', 'root', `${toPerson.id}.json`))).toBe(true);
    await store.write((tx) => noteDelivered(tx, mail, 'pull'));
    await mirror.settle();
    expect(readJson(path)).toEqual({ ...file, status: 'delivered' });
    await store.write((tx) => noteAcked(tx, mail));
    await store.write((tx) => noteDead(tx, toPerson, 'nobody there'));
    await mirror.close();
    expect(readJson(path)).toMatchObject({ status: 'acked', acked_at: expect.any(String) });
    expect(readJson(join(home.messages, 'shop', 'root', `${toPerson.id}.json`))).toMatchObject({
      status: 'pending',
      dead_reason: 'nobody there',
    });
    expect(readdirSync(join(path, '..')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('for a long mail it names the file with the rest', async () => {
    await using place = await openMailHome();
    const { platform, store, home, fox, owl } = place;
    const text = 'long '.repeat(2_000);
    const body = await storeBody(platform, text);
    await store.write((tx) => recordMail(tx, { from: fox, to: owl, kind: 'message' }, body));
    await keepMirror(platform).close();
    const file = readJson(join(home.messages, 'shop', 'old-owl', `${body.id}.json`));
    expect(file).toMatchObject({ body_bytes: text.length });
    expect(readFileSync(String(file['body_file']), 'utf8')).toBe(text);
    expect(String(file['body']).length).toBeLessThan(limits.mailBytes);
  });

  test('a restart continues where the files end: nothing is missing, and nothing is written twice', async () => {
    await using place = await openMailHome();
    const { platform, store, home, fox, owl } = place;
    const first = await place.send(fox, owl, 'first');
    await keepMirror(platform).close();
    const path = (id: string) => join(home.messages, 'shop', 'old-owl', `${id}.json`);
    const written = lstatSync(path(first.id), { bigint: true });
    // A file that was changed does not matter, and is rewritten with the mail's next change.
    const second = await place.send(fox, owl, 'second');
    writeFileSync(path(first.id), '{"status": "acked"}');
    await keepMirror(platform).close();
    expect(existsSync(path(second.id))).toBe(true);
    expect(lstatSync(path(first.id), { bigint: true }).ino).toBe(written.ino);
    await store.write((tx) => noteDelivered(tx, first, 'pull'));
    await keepMirror(platform).close();
    expect(readJson(path(first.id))).toMatchObject({ status: 'delivered', body: 'first' });
    expect((await daemonState(store.db)).mailMirrorSeq).toBe(store.lastSeq());
  });

  test('more than one batch is followed to its end', async () => {
    await using place = await openMailHome();
    const { platform, home, fox, owl } = place;
    const number = limits.mailFilesPerTick * 2 + 5;
    for (let sent = 0; sent < number; sent++) await place.send(fox, owl, `mail ${sent}`);
    await keepMirror(platform).close();
    expect(readdirSync(join(home.messages, 'shop', 'old-owl'))).toHaveLength(number);
  });

  test('a mailbox that is a link is not written to, and the others are [fault 42]', async () => {
    await using place = await openMailHome();
    const { platform, home, fox, owl, elk } = place;
    const elsewhere = join(place.place, 'elsewhere');
    mkdirSync(elsewhere);
    mkdirSync(join(home.messages, 'shop'), { recursive: true });
    symlinkSync(elsewhere, join(home.messages, 'shop', 'old-owl'));
    await place.send(fox, owl, 'x');
    const mail = await place.send(fox, elk, 'y');
    await keepMirror(platform).close();
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(existsSync(join(home.messages, 'shop', 'shy-elk', `${mail.id}.json`))).toBe(true);
  });
});

describe('unused mailboxes', () => {
  test('of dead and unknown agents are removed once their mail is settled; everything else stays [S4-31]', async () => {
    await using place = await openMailHome();
    const { platform, store, home, fox, owl, elk } = place;
    const [pending, settled] = [await place.send(fox, owl, 'x'), await place.send(fox, elk, 'y')];
    await place.send(owl, fox, 'z');
    await keepMirror(platform).close();
    const at = (...names: string[]) => join(home.messages, 'shop', ...names);
    const elsewhere = join(place.place, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'precious.txt'), 'x');
    symlinkSync(elsewhere, at('a-link'));
    mkdirSync(at('nobody'));
    mkdirSync(at('stranger'));
    writeFileSync(at('stranger', 'notes.json'), '{}');
    writeFileSync(at('a-file'), '');
    expect(await pruneMailboxes(platform)).toEqual([at('nobody'), at('stranger')]);
    await store.write(async (tx) => {
      for (const { id } of [owl, elk]) await updateAgent(tx, id, { endedAt: tx.now, endReason: 'killed' });
      await noteDead(tx, settled, 'killed');
    });
    expect(await pruneMailboxes(platform)).toEqual([at('shy-elk')]);
    await store.write((tx) => noteDead(tx, pending, 'killed'));
    writeFileSync(at('old-owl', 'keep.txt'), 'mine');
    expect(await pruneMailboxes(platform)).toEqual([at('old-owl')]);
    expect(await pruneMailboxes(platform)).toEqual([]);
    expect(readdirSync(at()).toSorted()).toEqual(['a-file', 'a-link', 'calm-fox']);
    expect(readdirSync(elsewhere)).toEqual(['precious.txt']);
    // Foreign files are kept, out of the way.
    const archive = join(home.messages, '.archive');
    const kept = readdirSync(archive).flatMap((name) => readdirSync(join(archive, name)));
    expect(kept.toSorted()).toEqual(['keep.txt', 'notes.json']);
    const pruned = (await place.events()).filter(({ type }) => type === 'mailbox.pruned');
    expect(pruned).toHaveLength(4);
  });

  test('a new agent with the alias of a dead one gets its own mailbox', async () => {
    await using place = await openMailHome();
    const { platform, store, home, fox, owl } = place;
    const mail = await place.send(fox, owl, 'x');
    await store.write((tx) => updateAgent(tx, owl.id, { endedAt: tx.now, endReason: 'killed' }));
    const { addRestingAgents } = await import('../../support/resting-agents.ts');
    await addRestingAgents(home, [{ alias: 'old-owl' }]);
    await keepMirror(platform).close();
    expect(existsSync(join(home.messages, 'shop', owl.id, `${mail.id}.json`))).toBe(true);
    expect(existsSync(join(home.messages, 'shop', 'old-owl'))).toBe(false);
    await store.write((tx) => noteDead(tx, mail, 'killed'));
    expect(await pruneMailboxes(platform)).toEqual([join(home.messages, 'shop', owl.id)]);
  });
});

test('failed writes are retried [fault 9]', async () => {
  await using place = await openMailHome();
  const { platform, home, fox, owl, elk } = place;
  // A file in place of the project's directory: nothing can be written below it.
  mkdirSync(home.messages, { recursive: true });
  writeFileSync(join(home.messages, 'shop'), '');
  const first = await place.send(fox, owl, 'first');
  const mirror = keepMirror(platform);
  await mirror.settle();
  rmSync(join(home.messages, 'shop'));
  mkdirSync(join(home.messages, 'shop', 'old-owl'), { recursive: true });
  // A directory has the name of the next file: writing fails, and does not count as done.
  mkdirSync(join(home.messages, 'shop', 'old-owl', `.${first.id}.json.tmp`));
  await place.store.write((tx) => noteDelivered(tx, first, 'pull'));
  await mirror.settle();
  rmSync(join(home.messages, 'shop', 'old-owl', `.${first.id}.json.tmp`), { recursive: true });
  const second = await place.send(fox, elk, 'second');
  await mirror.close();
  const file = (box: string, id: string) => readJson(join(home.messages, 'shop', box, `${id}.json`));
  expect(file('old-owl', first.id)).toMatchObject({ status: 'delivered' });
  expect(file('shy-elk', second.id)).toMatchObject({ status: 'pending' });
});
