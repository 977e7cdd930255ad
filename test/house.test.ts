import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Exceptions } from '../scripts/house.ts';
import { houseProblems, measureHouse, roomSizes } from '../scripts/house.ts';
import { importViolations, readWorkspace, workspaceRoot } from '../scripts/import-boundaries.ts';
import { rooms } from '../scripts/rooms.ts';

const { files, manifests } = readWorkspace(workspaceRoot);
const file = (path: string, ...lines: string[]) => ({
  path: `packages/daemon/src/${path}`,
  text: `${lines.join('\n')}\n`,
});
const lines = (count: number) => Array.from({ length: count }, () => '  work();');

describe('the real tree', () => {
  test('it keeps the measures, except for the listed exceptions, and needs each of these', () => {
    const path = join(workspaceRoot, 'scripts', 'house-exceptions.json');
    const exceptions = JSON.parse(readFileSync(path, 'utf8')) as Exceptions;
    expect(houseProblems(measureHouse(files), exceptions)).toEqual([]);
  });

  test('every room has files, and every file of the daemon a room', () => {
    expect(roomSizes(files).filter((room) => room.files === 0)).toEqual([]);
    const inRooms = roomSizes(files).reduce((sum, room) => sum + room.files, 0);
    expect(inRooms).toBe(files.filter(({ path }) => path.startsWith('packages/daemon/src/')).length);
  });

  test('ARCHITECTURE.md draws every room', () => {
    const drawing = readFileSync(join(workspaceRoot, 'ARCHITECTURE.md'), 'utf8');
    for (const { name } of rooms) expect(drawing).toMatch(new RegExp(`^ .*\\b${name}\\b`, 'm'));
  });
});

describe('walls', () => {
  const complaints = (path: string, line: string) =>
    importViolations([file(path, line)], manifests).map(({ why }) => why);

  test.each([
    [
      'mail/post.ts',
      "import { start } from '../sessions/start.ts';",
      'the room mail is below sessions and imports nothing of it',
    ],
    [
      'mail/files/a.ts',
      "import type { App } from '../../door/app.ts';",
      'the room mail is below door and imports nothing of it',
    ],
    ['changes/a.ts', "import { b } from '../service/b.ts';", 'the room service has no place in scripts/rooms.ts'],
    [
      'queue/a.ts',
      "import { startDaemon } from '../daemon.ts';",
      'the room queue is below daemon and imports nothing of it',
    ],
  ])('%s: %s', (path, line, why) => {
    expect(complaints(path, line)).toEqual([why]);
  });

  test('a room imports itself and rooms below it', () => {
    expect(complaints('queue/a.ts', "import { b } from './b.ts';")).toEqual([]);
    expect(complaints('queue/a.ts', "import { b } from '../mail/b.ts';")).toEqual([]);
  });
});

describe('measures', () => {
  const found = (...given: { path: string; text: string }[]) =>
    measureHouse(given).map(({ measure, what, size }) => [measure, what, size]);

  test('a function of 81 lines is found, one of 80 is not', () => {
    const long = file('mail/a.ts', 'export async function long(): Promise<void> {', ...lines(79), '}');
    const short = file('mail/b.ts', 'function short(): void {', ...lines(78), '}');
    expect(found(long, short)).toEqual([['function-lines', 'packages/daemon/src/mail/a.ts long', 81]]);
  });

  test('seven collaborators are found, six are not', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, index) => `  part${index}: Part;`);
    const parts = (count: number) => ['type MailParts = {', '  /** The first. */', ...fields(count), '};'];
    expect(found(file('mail/a.ts', ...parts(7)), file('mail/b.ts', ...parts(6)))).toEqual([
      ['parts-fields', 'packages/daemon/src/mail/a.ts MailParts', 7],
    ]);
  });

  test('a variable at module level that remembers is found, a constant is not', () => {
    const remembering = ['let last = 0;', 'const known = new Map<string, number>();', 'const words = new Set([1]);'];
    expect(found(file('mail/a.ts', ...remembering))).toEqual([['module-memory', 'packages/daemon/src/mail/a.ts', 2]]);
  });

  test('a room of 4,001 lines and a folder of 26 files are found', () => {
    const many = Array.from({ length: 26 }, (_, index) => file(`mail/a${index}.ts`, '//'));
    expect(found(file('mail/files/a.ts', ...lines(3_975)), ...many)).toEqual([
      ['room-lines', 'mail', 4_001],
      ['folder-files', 'packages/daemon/src/mail', 26],
    ]);
  });

  test('an exception that grows, or is not needed, is a problem', () => {
    const long = { measure: 'function-lines', what: 'a.ts f', size: 90 } as const;
    expect(houseProblems([long], { 'function-lines': { 'a.ts f': 90 } })).toEqual([]);
    expect(houseProblems([long], { 'function-lines': { 'a.ts f': 89 } })).toHaveLength(1);
    expect(houseProblems([long], {})).toHaveLength(1);
    expect(houseProblems([], { 'function-lines': { 'a.ts f': 90 } })).toHaveLength(1);
  });
});
