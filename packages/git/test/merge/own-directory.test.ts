import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureOwnDirectory } from '../../src/merge/own-directory.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { makeRepository, temporaryDirectory } from '../fixture.ts';

test('many concurrent callers all find it', async () => {
  const home = temporaryDirectory();
  const repository = await openRepository(makeRepository(join(home, 'project')));
  for (let round = 0; round < 5; round++) {
    const ownDir = join(home, `own-${round}.git`);
    const waves = Array.from({ length: 40 }, async (_, index) => {
      // Each begins a little later than the one before, so that some look in the moment of the rename.
      for (let turn = 0; turn < index * 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      await ensureOwnDirectory(repository, ownDir);
    });
    const outcomes = await Promise.allSettled(waves);
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toEqual([]);
  }
});
