import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exceptions } from './house.ts';
import { houseProblems, measureHouse, measures, roomSizes } from './house.ts';
import { readWorkspace, workspaceRoot } from './import-boundaries.ts';
import { rooms } from './rooms.ts';

const isQuiet = process.argv.includes('--check');
const { files } = readWorkspace(workspaceRoot);
const exceptions = JSON.parse(
  readFileSync(join(workspaceRoot, 'scripts', 'house-exceptions.json'), 'utf8'),
) as Exceptions;
const problems = houseProblems(measureHouse(files), exceptions);
if (!isQuiet) {
  const holds = new Map(rooms.map((room) => [room.name, room.holds]));
  process.stdout.write('Rooms of the daemon, lowest first; each imports only rooms above it in this list.\n\n');
  for (const { name, files: count, lines, to } of roomSizes(files)) {
    process.stdout.write(
      `${name.padEnd(15)}${String(count).padStart(4)} files${String(lines).padStart(6)} lines  ${holds.get(name) ?? ''}\n`,
    );
    if (to.length > 0) process.stdout.write(`${' '.repeat(15)}imports ${to.toSorted().join(', ')}\n`);
  }
  process.stdout.write('\nMeasures, and how many exceptions each has:\n');
  for (const [measure, most] of Object.entries(measures)) {
    const listed = exceptions[measure as keyof typeof measures] ?? {};
    process.stdout.write(`  ${measure.padEnd(16)}at most ${most}, ${Object.keys(listed).length} exceptions\n`);
  }
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
