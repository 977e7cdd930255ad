import type { probeSandbox } from '@pawl/sandbox/probe';
import { getRequestListener } from '@hono/node-server';
import type { Home } from '@pawl/protocol/node/home';
import { version } from '@pawl/protocol/node/programs';
import type { DaemonView } from '@pawl/protocol/daemon/view';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { countAgents } from '@pawl/store/agents/agents';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import { createBackup } from '@pawl/store/directory/backup';
import type { DataDirectory } from '@pawl/store/directory/data-directory';
import { listProjects } from '@pawl/store/projects/projects';
import { openSessions } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SessionPlatform } from './accounts/session-platform.ts';
import { addRoutes } from './add-routes.ts';
import { keepStateFile } from './agents/state-file.ts';
import { buildApp } from './door/app.ts';
import type { Served } from './door/serve.ts';
import { serve } from './door/serve.ts';
import { startImport } from './mail/files/import.ts';
import { keepMirror } from './mail/files/mirror.ts';
import { openPlatform } from './open-platform.ts';
import type { Rooms } from './open-rooms.ts';
import { openRooms, recover } from './open-rooms.ts';
import type { DaemonClock } from './platform/clock.ts';
import { followJump } from './platform/clock.ts';
import { followEvents } from './platform/event-feed.ts';
import type { Choices, Timing } from './platform/platform.ts';
import { watchApprovals } from './approvals/approvals.ts';
import { startDispatch } from './plan/dispatch.ts';
import { watchQuestions } from './questions/question-watch.ts';
import { followOutput } from './sessions/output-feed.ts';
import { createHealth } from './supervision/health.ts';
import { startLeaving } from './supervision/leaving.ts';
import type { Loops } from './supervision/loops.ts';
import { startLoops } from './supervision/loops.ts';
import { createWebSessions } from './web/web-sessions.ts';
import { createNudges } from './supervision/nudges.ts';

export type DaemonOptions = {
  directory: DataDirectory;
  log: Logger;
  /** Receives the function that masks secrets in log lines. */
  maskLogWith?: (mask: (line: string) => string) => void;
  /** 0 picks a free port. */
  port: number;
  /** The system's time, and a monotonic count of milliseconds; given only the first, a test lets time pass. */
  clock?: () => number;
  monotonic?: () => number;
  timing?: Partial<Timing>;
  choices?: Partial<Choices>;
  /** Reads the choices again; without it they stay as at start. */
  readChoices?: () => Promise<Choices>;
  /** Providers that a person adds or overrides in `config.yaml`. */
  providers?: Record<string, unknown>;
  environment?: NodeJS.ProcessEnv;
  /** Finds the machine's sandbox. */
  probeSandbox?: typeof probeSandbox;
  onStopRequested(): void;
};

export type Daemon = {
  port: number;
  home: Home;
  /** The periodic work, so that tests need not wait for it. */
  loops: Pick<Loops, 'health' | 'nudges'>;
  /** The registry, for code that runs the daemon in its own process. */
  store: Store;
  stop(reason: string): Promise<void>;
};

const backupAgeMs = 60 * 60 * 1000;
const doorMs = 2_000;
const backupPatienceMs = 5_000;

/**
 * The composition root. The caller holds the data directory's lock. Order matters: first the facts (integrity,
 * migrations), then adoption of running sessions, and only then the door opens.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { platform, proxy, time, token } = await openPlatform(options);
  const { home, store, log } = platform;
  const rooms = openRooms(platform, proxy);
  const found = await recover(rooms);
  let port: number | null = null;
  const feeds = { events: followEvents(store), output: followOutput(store, rooms.agents.isWorking) };
  const daemon = { requestStop: options.onStopRequested, describe: () => describe(rooms, port) };
  const app = buildApp(platform, { sessions: createWebSessions(platform), port: () => port }, (empty) =>
    addRoutes(empty, rooms, { feeds, daemon }),
  );
  const door = await openDoor(rooms, getRequestListener(app.fetch, { overrideGlobalObjects: false }), {
    port: options.port,
    token,
    onPort: (taken) => (port = taken),
  });
  const watches = startWatches(rooms);
  log.info({ port: door.port, ...found }, 'daemon started');
  const backups = keepBackups(options.directory, platform);
  const timers = [
    repeat(log, limits.clockLookMs, 'failed to read the clock', () => followClock(platform, time)),
    repeat(log, doorMs, 'failed to restore socket or token', () => door.restore()),
  ];
  return {
    port: door.port,
    home,
    loops: watches.loops,
    store,
    async stop(reason) {
      log.info({ reason }, 'daemon stopping; agents keep running');
      for (const timer of timers) clearInterval(timer);
      await door.close();
      await rooms.mergeQueues.close();
      await watches.close();
      await backups.close();
      await store.write(async (tx) => tx.emit({ type: 'daemon.stopped', data: { reason } })).catch(() => undefined);
      await store.close();
      rmSync(home.daemonFile, { force: true });
    },
  };
}

/** Opens the door; on failure closes what was opened before. */
async function openDoor(
  { platform, reconciler }: Rooms,
  listener: RequestListener,
  { port, token, onPort }: { port: number; token: string; onPort(port: number): void },
): Promise<Served> {
  const { home, log, startedAt } = platform;
  try {
    const { port: last } = await daemonState(platform.store.db);
    const served = await serve(listener, {
      home,
      port,
      last,
      token,
      log,
      onPort(taken) {
        onPort(taken);
        writeDaemonFile(home, { pid: process.pid, port: taken, version, startedAt });
      },
    });
    if (served.port !== last) await platform.store.write((tx) => updateDaemonState(tx, { port: served.port }));
    return served;
  } catch (error) {
    await reconciler.close();
    await platform.store.close();
    throw error;
  }
}

/** Starts the daemon's own work, beside requests. */
function startWatches({ platform, proxy, reconciler, signals, mailRoom, questions, adoption, crews, runtime }: Rooms) {
  const stateFile = keepStateFile(platform);
  const dropped = startImport(platform);
  const mirror = keepMirror(platform, dropped.isOurs);
  const approvalWatch = watchApprovals(platform);
  const questionWatch = watchQuestions(platform, questions, signals);
  const dispatch = startDispatch(platform);
  const leaving = startLeaving(platform, { reconciler });
  const health = createHealth(platform, { reconciler, signals, crews, leaving });
  const loops = startLoops(platform, { health, nudges: createNudges(platform) });
  return {
    loops,
    async close() {
      proxy.close();
      runtime.close();
      for (const each of [
        loops,
        dispatch,
        leaving,
        adoption,
        questionWatch,
        approvalWatch,
        mailRoom,
        reconciler,
        stateFile,
        dropped,
        mirror,
      ])
        await each.close();
    },
  };
}

/** Backs up the database at once, and then hourly. */
function keepBackups(directory: DataDirectory, { clock, log }: SessionPlatform) {
  const backUp = () =>
    createBackup(directory, { clock, minimumAgeMs: backupAgeMs }).catch((error: unknown) =>
      log.error({ error: messageOf(error) }, 'backup failed'),
    );
  let backup: Promise<unknown> = backUp();
  const timer = setInterval(() => (backup = backUp()), backupAgeMs).unref();
  return {
    async close() {
      clearInterval(timer);
      // A partial backup is useless, but do not wait for a large one.
      await Promise.race([backup, delay(backupPatienceMs, undefined, { ref: false })]);
    },
  };
}

/** Repeats an action; logs a failure, and the next run retries. */
function repeat(log: Logger, everyMs: number, what: string, act: () => Promise<void>): NodeJS.Timeout {
  const report = (error: unknown) => log.error({ error: messageOf(error) }, what);
  return setInterval(() => void act().catch(report), everyMs).unref();
}

/** Shifts stored times when the system clock was set. */
async function followClock(platform: SessionPlatform, time: DaemonClock): Promise<void> {
  const byMs = await followJump(platform.store, time);
  if (byMs === 0) return;
  platform.startedAt += byMs;
  platform.log.warn({ byMs }, 'the system clock was set; waits and deadlines keep their length');
}

async function describe({ platform, reconciler }: Rooms, port: number | null): Promise<DaemonView> {
  const { home, store, startedAt } = platform;
  return {
    version,
    pid: process.pid,
    home: home.root,
    port,
    startedAt,
    lastSeq: store.lastSeq(),
    projects: (await listProjects(store.db)).length,
    agents: { total: await countAgents(store.db), working: (await openSessions(store.db)).length },
    memoryBytes: process.memoryUsage.rss(),
    trouble: reconciler.ingest.trouble(),
  };
}

function writeDaemonFile(home: Home, content: object): void {
  writeFileSync(`${home.daemonFile}.tmp`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${home.daemonFile}.tmp`, home.daemonFile);
}
