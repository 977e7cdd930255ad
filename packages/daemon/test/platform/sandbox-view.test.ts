import { defaultChoices } from '@pawl/daemon/platform/platform';
import { machineMounts } from '@pawl/daemon/platform/sandbox-view';
import { homeAt } from '@pawl/protocol/node/home';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

test('a sandbox shows toolchains and git’s settings, and no file with passwords beside them [sandbox files]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'person');
  const files = {
    shown: ['.gitconfig', '.config/git/config', '.config/git/ignore', '.local/share/uv/python/3/bin', '.nvm/x'],
    hidden: [
      '.config/git/credentials',
      '.local/share/uv/credentials/credentials.toml',
      '.cargo/credentials.toml',
      '.npmrc',
      '.ssh/id_ed25519',
      '.netrc',
      '.docker/config.json',
      '.aws/credentials',
      '.config/gh/hosts.yml',
    ],
  };
  for (const file of Object.values(files).flat()) {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), 'x');
  }
  const machine = { program: '/usr/bin/bwrap', hidden: [home], temporary: [], kernel: [] };
  const platform = { home: homeAt(join(home, '.pawl')), choices: defaultChoices, pawl: '/usr/bin/pawl' };
  const mounts = machineMounts(platform, machine, { environment: { HOME: home, PATH: '/usr/bin' }, programs: [] });
  const isShown = (file: string) =>
    mounts.some(({ at, show }) => show !== 'empty' && `${join(home, file)}/`.startsWith(`${at}/`));
  expect(files.shown.filter((file) => !isShown(file))).toEqual([]);
  expect(files.hidden.filter(isShown)).toEqual([]);
});
