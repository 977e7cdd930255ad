import { openChecks } from '@pawl/store/changes/checks';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checksOf, openCheckHome } from '../support/check-home.ts';

/**
 * Starts a check if it is given a script, and looks after the open checks of a home until somebody kills this process.
 * Cancels them if asked to. `node check-daemon.ts <place> [script]`
 */
const [place = '', script] = process.argv.slice(2);
const shop = await openCheckHome(place);
const checker = shop.checker({ livenessMs: 50 });
await checker.adopt();
if (script !== undefined) await shop.start(checker, checksOf([script]));
while (!existsSync(join(place, 'stop'))) await delay(10);
for (const { id } of await openChecks(shop.store.db)) await checker.cancel(id, 'the test asks for it');
