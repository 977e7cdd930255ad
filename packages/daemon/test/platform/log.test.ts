import { openLog } from '@pawl/daemon/platform/log';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('a log that is too large is continued in a new private file; the previous one is kept [W4-01]', async () => {
  await using place = await temporaryDirectory();
  const path = join(place.path, 'daemon.log');
  const { log, rotate } = openLog(path, 300);
  log.info('first');
  rotate();
  expect(existsSync(`${path}.1`)).toBe(false);
  log.info('x'.repeat(300));
  rotate();
  log.info('after');
  expect(readFileSync(`${path}.1`, 'utf8')).toMatch(/first.*\n.*xxx/);
  expect(readFileSync(path, 'utf8')).toMatch(/^\{.*"msg":"after"\}\n$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  log.info('y'.repeat(300));
  rotate();
  expect(readFileSync(`${path}.1`, 'utf8')).toMatch(/after.*\n.*yyy/);
});

test('a starting daemon opens a new file if the last one is too large', async () => {
  await using place = await temporaryDirectory();
  const path = join(place.path, 'daemon.log');
  writeFileSync(path, 'z'.repeat(301));
  openLog(path, 300).log.info('hello');
  expect(readFileSync(`${path}.1`, 'utf8')).toHaveLength(301);
  expect(readFileSync(path, 'utf8')).toContain('hello');
});

test('a log that cannot be rotated is continued, with a warning', async () => {
  await using place = await temporaryDirectory();
  const path = join(place.path, 'daemon.log');
  const { log, rotate } = openLog(path, 10);
  log.info('a long line');
  mkdirSync(`${path}.1`);
  rotate();
  rmdirSync(`${path}.1`);
  log.info('the next');
  expect(readFileSync(path, 'utf8')).toMatch(/a long line.*\n.*failed to rotate.*\n.*the next/);
});
