import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processesIn } from '../../src/process/process-directory.ts';

test.runIf(process.platform === 'linux')('finds who works in a directory or below it, and not beside it', async () => {
  await using place = await temporaryDirectory();
  for (const name of ['a', 'a/deep', 'ab']) mkdirSync(join(place.path, name));
  const sleepers = ['a/deep', 'ab'].map((name) => spawn('sleep', ['300'], { cwd: join(place.path, name) }));
  try {
    const [inside] = sleepers;
    await waitUntil(() => processesIn(join(place.path, 'a')).length > 0, { what: 'the sleeper to be seen' });
    expect(processesIn(join(place.path, 'a'))).toEqual([inside?.pid]);
  } finally {
    for (const sleeper of sleepers) sleeper.kill('SIGKILL');
  }
});
