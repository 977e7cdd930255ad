import { temporaryDirectory } from '@pawl/testing/temporary';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { probeSandbox } from '../src/probe.ts';

/** Probes with this program as the only bubblewrap. */
async function probeWith(script: string) {
  await using place = await temporaryDirectory();
  await writeFile(join(place.path, 'bwrap'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return await probeSandbox({ PATH: place.path }, []);
}

test.runIf(process.platform === 'linux')(
  'says that bubblewrap is missing, and how to install it [sandbox missing]',
  async () => {
    const probe = await probeSandbox({ PATH: '/nonexistent' }, []);
    expect(probe).toMatchObject({ works: false, why: 'missing', hint: expect.stringContaining('apt-get install') });
  },
);

test.runIf(process.platform === 'linux')(
  'refuses an old version, or one that it cannot read [sandbox missing]',
  async () => {
    for (const version of ['bubblewrap 0.6.1', 'bubblewrap 0.7.0', 'nonsense']) {
      const probe = await probeWith(`echo '${version}'`);
      expect(probe, version).toMatchObject({ works: false, why: 'too-old' });
    }
  },
);

test.runIf(process.platform === 'linux')('repeats why the system refuses a sandbox [sandbox missing]', async () => {
  const probe = await probeWith(
    'if [ "$1" = --version ]; then echo bubblewrap 1.0.0; else echo "No permissions to create new namespace" >&2; exit 1; fi',
  );
  expect(probe).toMatchObject({
    works: false,
    why: 'refused',
    reason: expect.stringContaining('No permissions to create new namespace'),
  });
});
