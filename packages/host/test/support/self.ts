import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createHost } from '../../src/host.ts';
import { stopSession } from '../../src/session/stop-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';

// A daemon that was started from within a session, and so carries its marker itself, stops that session.
const marker = process.env['PAWL_SESSION'] ?? '';
const child = spawn('sleep', ['600'], { stdio: 'ignore' });
await once(child, 'spawn');
// A process that has only just become its program may show no environment yet.
let before: number[] = [];
while (before.length === 0) {
  await pause(5);
  before = strayProcesses(marker).map(({ pid }) => pid);
}
await stopSession(createHost(), { identity: null, dir: process.cwd(), marker, graceMs: 5_000 });
process.stdout.write(JSON.stringify({ self: process.pid, child: child.pid, before, after: strayProcesses(marker) }));
