import { createHost } from '../../src/host.ts';
import type { SessionSpec } from '../../src/session/start-session.ts';
import { startSession } from '../../src/session/start-session.ts';

// Starts the session given as JSON, says so, and stays when asked to: a daemon to be killed.
const [, , spec = '{}', stay] = process.argv;
await startSession(createHost(), JSON.parse(spec) as SessionSpec);
process.stdout.write('started\n');
if (stay === 'stay') setInterval(() => undefined, 1_000_000);
