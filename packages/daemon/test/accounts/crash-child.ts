/** Adds an account below the directory given by its parent, and dies at the given step. */
import { createAccounts } from '@pawl/daemon/accounts/accounts';
import { homeAt } from '@pawl/protocol/node/home';
import { providerRegistry } from '@pawl/providers/registry';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { openDatabase } from '@pawl/store/directory/recovery';
import { pino } from 'pino';
import { fakePreset } from './fixture.ts';

const [home = '', step = '', secret = ''] = process.argv.slice(2);
const directory = openDataDirectory(home);
const store = await openDatabase(directory, { clock: Date.now });
const accounts = createAccounts(
  {
    home: homeAt(directory.path),
    store,
    providers: providerRegistry([fakePreset()]),
    environment: {},
    clock: Date.now,
    log: pino({ enabled: false }),
  },
  (reached) => {
    if (reached === step) process.kill(process.pid, 'SIGKILL');
  },
);
await accounts.add({ provider: 'fake', name: 'work', kind: 'api-key', secret });
