import { getRequestListener } from '@hono/node-server';
import type { Home } from '@pawl/protocol/home';
import { homeAt } from '@pawl/protocol/home';
import { programs, version } from '@pawl/protocol/programs';
import { withCustomPresets } from '@pawl/providers/custom';
import type { Providers } from '@pawl/providers/registry';
import { providerRegistry } from '@pawl/providers/registry';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { countAgents } from '@pawl/store/agents/agents';
import { createBackup } from '@pawl/store/directory/backup';
import type { DataDirectory } from '@pawl/store/directory/data-directory';
import { listProjects } from '@pawl/store/projects/projects';
import { openDatabase } from '@pawl/store/directory/recovery';
import { openSessions } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createAccounts } from './accounts/accounts.ts';
import { createClock, followJump, settleTimes } from './platform/clock.ts';
import { followEvents } from './platform/event-feed.ts';
import { buildApp } from './door/app.ts';
import { createAuthority, personToken, restoreToken } from './platform/http/authority.ts';
import { listenOnLoopback, listenOnSocket, stopListening } from './platform/http/listen.ts';
import { followOutput } from './sessions/output-feed.ts';
import { createHealth } from './supervision/health.ts';
import type { Loops } from './supervision/loops.ts';
import { startLoops } from './supervision/loops.ts';
import { createNudges } from './supervision/nudges.ts';
import { startImport } from './mail/files/import.ts';
import { keepMirror } from './mail/files/mirror.ts';
import { openPost } from './mail/post.ts';
import { loadPromptAssets } from './prompts/assets.ts';
import { finishCheckouts } from './queue/finish-checkouts.ts';
import { createRatchet } from './queue/ratchet.ts';
import { finishRefreshes } from './queue/refresh-worktree.ts';
import { startReconciler } from './sessions/reconcile/reconciler.ts';
import { writePrograms } from './platform/programs-file.ts';
import { createAdoption } from './supervision/adopted.ts';
import { agentService } from './agents/agents.ts';
import { changesOfAgents } from './changes/agent-changes.ts';
import { createDoctor } from './door/doctor.ts';
import { ensureRootAgent } from './platform/root-agent.ts';
import { createBarrier } from './agents/barrier.ts';
import { homeDefinitions } from './definitions/home-definitions.ts';
import { finishMerges } from './agents/errands/errand-merge.ts';
import { createDesk } from './agents/desk.ts';
import { groupBase, sweepGroups } from '@pawl/host/session/control-group';
import { dropUnusedSnapshots, finishTrash } from './agents/worktrees/leftovers.ts';
import { createInbox } from './questions/inbox.ts';
import { createProjectCrews } from './projects/project-crew.ts';
import { startLeaving } from './supervision/leaving.ts';
import { createQuestionWaits } from './questions/question-waits.ts';
import { watchQuestions } from './questions/question-watch.ts';
import { createQuestions } from './questions/questions.ts';
import { createSignals } from './agents/signals.ts';
import { requeueDead } from './tasks/tasks.ts';
import { redact } from './accounts/redaction.ts';
import { keepStateFile } from './agents/state-file.ts';
import type { Choices, Timing } from './platform/platform.ts';
import type { SessionPlatform } from './accounts/session-platform.ts';
import { usualChoices } from './platform/platform.ts';

export type DaemonOptions = {
  directory: DataDirectory;
  log: Logger;
  /** Is told how to mask secrets in the lines of the log. */
  maskLogWith?: (mask: (line: string) => string) => void;
  /** 0 takes a free port. */
  port: number;
  /** The system's time, and a count of milliseconds that cannot be set; with the first alone, a test lets time pass. */
  clock?: () => number;
  monotonic?: () => number;
  timing?: Partial<Timing>;
  choices?: Partial<Choices>;
  /** Reads the choices anew from where the person keeps them; without it they stay as they were at the start. */
  readChoices?: () => Promise<Choices>;
  /** Providers that a person adds or overrides, as `config.yaml` has them. */
  providers?: Record<string, unknown>;
  environment?: NodeJS.ProcessEnv;
  onStopRequested(): void;
};

export type Daemon = {
  port: number;
  home: Home;
  /** What it does now and then by itself; a test need not wait for that. */
  loops: Pick<Loops, 'health' | 'nudges'>;
  /** Its registry: whoever runs it in their own process writes through it, and through nothing else. */
  store: Store;
  stop(reason: string): Promise<void>;
};

const backupAgeMs = 60 * 60 * 1000;
const doorMs = 2_000;
const backupPatienceMs = 5_000;

/**
 * The composition root. The caller holds the data directory's lock. Order matters: facts first (integrity, migrations),
 * then what lives is adopted, and only then does the door open.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { directory, log } = options;
  const time = createClock({
    ...(options.clock === undefined ? {} : { wall: options.clock }),
    ...(options.monotonic === undefined ? {} : { monotonic: options.monotonic }),
  });
  const clock = time.now;
  const startedAt = clock();
  const home = homeAt(directory.path);
  for (const path of [home.logs, home.sessions, home.worktrees, home.repositories, home.trash, home.checks])
    mkdirSync(path, { recursive: true, mode: 0o700 });
  const store = await openDatabase(directory, {
    clock,
    onListenerError: (error) => log.error({ error: messageOf(error) }, 'a listener failed'),
  });
  const setMs = await settleTimes(store, time);
  if (setMs !== 0) log.warn({ byMs: setMs }, 'the system clock was set; stored times follow');
  const token = personToken(home.token);
  const environment = options.environment ?? process.env;
  const providers = homeProviders(home, options.providers ?? {}, log);
  const choices = { ...usualChoices, ...options.choices };
  const platform: SessionPlatform = {
    home,
    rootId: await ensureRootAgent(store),
    choices,
    currentChoices: options.readChoices ?? (async () => choices),
    definitions: homeDefinitions(store, { builtIn: programs.builtInDefinitions, user: home.agents }),
    store,
    providers,
    prompts: await loadPromptAssets(programs.prompts),
    accounts: createAccounts({ home, store, providers, environment, clock, log }),
    authority: createAuthority(token),
    startedAt,
    timing: {
      stopGraceMs: limits.stopGraceMs,
      hungAfterSignalMs: limits.hungAfterSignalMs,
      livenessMs: limits.livenessMs,
      limitGraceMs: limits.limitGraceMs,
      routeMs: limits.routeMs,
      healthMs: limits.healthMs,
      nudgeMs: limits.nudgeMs,
      nudgeGapMs: limits.nudgeGapMs,
      queueMs: limits.queueMs,
      queueWaitMs: limits.queueWaitMs,
      adoptionMs: limits.adoptionMs,
      ...options.timing,
    },
    pawl: programs.pawl,
    environment,
    clock,
    repositories: new Map(),
    log,
  };
  options.maskLogWith?.((line) => redact(platform, line));
  linkCommand(home, programs.pawl);
  writePrograms(platform);
  await store.write(async (tx) => tx.emit({ type: 'daemon.started', data: { version, pid: process.pid } }));
  const reconciler = startReconciler(platform);
  const agents = agentService(platform, reconciler, changesOfAgents);
  const signals = createSignals(platform, reconciler);
  const post = openPost(platform, reconciler);
  const questions = createQuestions(platform, createQuestionWaits());
  const inbox = createInbox(platform, questions, signals);
  const adoption = createAdoption(platform);
  const ratchet = createRatchet(platform, reconciler);
  const barrier = createBarrier(store, reconciler.ingest);
  const desk = createDesk(platform, agents);
  const doctor = createDoctor(platform, reconciler);
  const crews = createProjectCrews(platform, { agents, reconciler, barrier });
  await dropUnusedSnapshots(platform);
  await finishTrash(platform);
  sweepGroups(groupBase());
  await platform.accounts.settle();
  await finishMerges(platform);
  await finishCheckouts(platform);
  await finishRefreshes(platform);
  await requeueDead(store);
  const { adopted, ended } = await reconciler.adopt();
  crashPoint('restart.after_adopt');
  await post.sweep();
  await ratchet.begin();
  let port: number | null = null;
  const app = buildApp({
    platform,
    agents,
    reconciler,
    signals,
    post,
    adoption,
    questions,
    inbox,
    ratchet,
    barrier,
    desk,
    doctor,
    crews,
    events: followEvents(store),
    output: followOutput(store, agents.isWorking),
    port: () => port,
    requestStop: options.onStopRequested,
    describe: async () => ({
      version,
      pid: process.pid,
      home: home.root,
      port,
      startedAt: platform.startedAt,
      lastSeq: store.lastSeq(),
      projects: (await listProjects(store.db)).length,
      agents: { total: await countAgents(store.db), working: (await openSessions(store.db)).length },
      memoryBytes: process.memoryUsage.rss(),
      trouble: reconciler.ingest.trouble(),
    }),
  });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const servers: Server[] = [];
  let socketServer: Server | null = null;
  try {
    const loopback = await listenOnLoopback(listener, options.port);
    servers.push(loopback.server);
    ({ port } = loopback);
    writeDaemonFile(home, { pid: process.pid, port, version, startedAt });
    socketServer = await listenOnSocket(listener, home.socket);
  } catch (error) {
    await stopListening(servers);
    await reconciler.close();
    await store.close();
    throw error;
  }
  const stateFile = keepStateFile(platform);
  const dropped = startImport(platform);
  const mirror = keepMirror(platform, dropped.isOurs);
  const questionWatch = watchQuestions(platform, questions, signals);
  log.info({ port, adopted, ended }, 'the daemon is up');
  let backup: Promise<unknown> = Promise.resolve();
  const backUp = () => {
    backup = createBackup(directory, { clock, minimumAgeMs: backupAgeMs }).catch((error: unknown) =>
      log.error({ error: messageOf(error) }, 'the backup failed'),
    );
  };
  backUp();
  /** Somebody may take the socket or the token away, by a careless clean-up perhaps: both are put back. */
  const keepDoor = async () => {
    if (!existsSync(home.token)) restoreToken(home.token, token);
    if (existsSync(home.socket)) return;
    log.warn('the socket was taken away; listening again');
    if (socketServer !== null) void stopListening([socketServer]);
    socketServer = await listenOnSocket(listener, home.socket);
  };
  const followClock = async () => {
    const byMs = await followJump(store, time);
    if (byMs === 0) return;
    platform.startedAt += byMs;
    log.warn({ byMs }, 'the system clock was set; waits and deadlines keep their length');
  };
  const timers = [
    setInterval(backUp, backupAgeMs),
    setInterval(
      () => void followClock().catch((error: unknown) => log.error({ error: messageOf(error) }, 'the clock')),
      limits.clockLookMs,
    ),
    setInterval(
      () => void keepDoor().catch((error: unknown) => log.error({ error: messageOf(error) }, 'the door')),
      doorMs,
    ),
  ];
  for (const timer of timers) timer.unref();
  const leaving = startLeaving(platform, { reconciler });
  const health = createHealth(platform, { reconciler, signals, crews, leaving });
  const loops = startLoops(platform, { health, nudges: createNudges(platform) });
  return {
    port,
    home,
    loops,
    store,
    async stop(reason) {
      log.info({ reason }, 'the daemon leaves; agents go on');
      for (const timer of timers) clearInterval(timer);
      rmSync(home.socket, { force: true });
      await stopListening(socketServer === null ? servers : [...servers, socketServer]);
      await ratchet.close();
      await loops.close();
      await leaving.close();
      await adoption.close();
      await questionWatch.close();
      await post.close();
      await reconciler.close();
      await stateFile.close();
      await dropped.close();
      await mirror.close();
      // Half a backup is of no use; but nobody waits for a large one.
      await Promise.race([backup, delay(backupPatienceMs, undefined, { ref: false })]);
      await store.write(async (tx) => tx.emit({ type: 'daemon.stopped', data: { reason } })).catch(() => undefined);
      await store.close();
      rmSync(home.daemonFile, { force: true });
    },
  };
}

/** The providers that come along and those of the person. One that is not right is told, and keeps nobody from starting. */
function homeProviders(home: Home, entries: Record<string, unknown>, log: Logger): Providers {
  const builtIn = builtInPresets({
    scriptedAgent: [process.execPath, ...programs.scriptedAgent],
    bridge: [process.execPath, ...programs.bridge],
    scriptedState: home.scripted,
  });
  const { presets, problems } = withCustomPresets(builtIn, entries);
  for (const { reason } of problems) log.warn({ reason }, 'a provider in config.yaml is not right and is left out');
  return providerRegistry(presets, problems);
}

/** Puts the command where agents' shells find it; it may have moved since the last start. */
function linkCommand(home: Home, pawl: string): void {
  mkdirSync(home.bin, { recursive: true, mode: 0o700 });
  const path = join(home.bin, 'pawl');
  rmSync(`${path}.new`, { force: true });
  symlinkSync(pawl, `${path}.new`);
  renameSync(`${path}.new`, path);
}

function writeDaemonFile(home: Home, content: object): void {
  writeFileSync(`${home.daemonFile}.tmp`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${home.daemonFile}.tmp`, home.daemonFile);
}
