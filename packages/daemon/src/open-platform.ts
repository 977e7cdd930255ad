import { createHost } from '@pawl/host/host';
import type { Home } from '@pawl/protocol/node/home';
import { homeAt } from '@pawl/protocol/node/home';
import { programs, version } from '@pawl/protocol/node/programs';
import { withCustomPresets } from '@pawl/providers/custom';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import type { Providers } from '@pawl/providers/registry';
import { providerRegistry } from '@pawl/providers/registry';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { openDatabase } from '@pawl/store/directory/recovery';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createAccounts } from './accounts/accounts.ts';
import { redact } from './accounts/redaction.ts';
import type { SessionPlatform } from './accounts/session-platform.ts';
import type { DaemonOptions } from './daemon.ts';
import { homeDefinitions } from './definitions/home-definitions.ts';
import { createCaches } from './platform/caches.ts';
import type { DaemonClock } from './platform/clock.ts';
import { createClock, settleTimes } from './platform/clock.ts';
import { createAuthority, personToken } from './platform/http/authority.ts';
import type { Timing } from './platform/platform.ts';
import { defaultChoices } from './platform/platform.ts';
import { writePrograms } from './platform/programs-file.ts';
import { createSandboxing } from './platform/sandboxing.ts';
import { ensureRootAgent } from './platform/root-agent.ts';
import { loadPromptAssets } from './prompts/assets.ts';
import type { ProxyRoom } from './proxy/proxy.ts';
import { openProxy } from './proxy/proxy.ts';

/** Opens the store of a home and creates the platform of all rooms. */
export async function openPlatform(
  options: DaemonOptions,
): Promise<{ platform: SessionPlatform; proxy: ProxyRoom; time: DaemonClock; token: string }> {
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
    onListenerError: (error) => log.error({ error: messageOf(error) }, 'listener failed'),
  });
  const setMs = await settleTimes(store, time);
  if (setMs !== 0) log.warn({ byMs: setMs }, 'the system clock was set; shifted stored times');
  const token = personToken(home.token);
  const environment = options.environment ?? process.env;
  const providers = homeProviders(home, options.providers ?? {}, log);
  const choices = { ...defaultChoices, ...options.choices };
  const proxy = openProxy({ home, store, environment, log });

  const sandbox = createSandboxing(environment, options.probeSandbox);
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
    proxy,
    authority: createAuthority(token),
    startedAt,
    timing: { ...defaultTiming, ...options.timing },
    pawl: programs.pawl,
    environment,
    clock,
    repositories: new Map(),
    caches: createCaches(),
    host: createHost({ confine: sandbox.confine }),
    sandbox,
    log,
  };
  options.maskLogWith?.((line) => redact(platform, line));
  linkCommand(home, programs.pawl);
  writePrograms(platform);
  await store.write(async (tx) => tx.emit({ type: 'daemon.started', data: { version, pid: process.pid } }));
  return { platform, proxy, time, token };
}

const defaultTiming: Timing = {
  stopGraceMs: limits.stopGraceMs,
  hungAfterSignalMs: limits.hungAfterSignalMs,
  hungAfterResultMs: limits.hungAfterResultMs,
  livenessMs: limits.livenessMs,
  limitGraceMs: limits.limitGraceMs,
  routeMs: limits.routeMs,
  healthMs: limits.healthMs,
  nudgeMs: limits.nudgeMs,
  nudgeGapMs: limits.nudgeGapMs,
  queueMs: limits.queueMs,
  queueWaitMs: limits.queueWaitMs,
  adoptionMs: limits.adoptionMs,
};

/** Built-in providers and those of the person. An invalid one is logged, and does not stop the daemon from starting. */
function homeProviders(home: Home, entries: Record<string, unknown>, log: Logger): Providers {
  const builtIn = builtInPresets({
    scriptedAgent: [process.execPath, ...programs.scriptedAgent],
    bridge: [process.execPath, ...programs.bridge],
    engine: [process.execPath, ...programs.engine],
    scriptedState: home.scripted,
    engineState: home.engine,
  });
  const { presets, problems } = withCustomPresets(builtIn, entries);
  for (const { reason } of problems) log.warn({ reason }, 'ignoring an invalid provider in config.yaml');
  return providerRegistry(presets, problems);
}

/** Links the command into the PATH of agents' shells; it may have moved since the last start. */
function linkCommand(home: Home, pawl: string): void {
  mkdirSync(home.bin, { recursive: true, mode: 0o700 });
  const path = join(home.bin, 'pawl');
  rmSync(`${path}.new`, { force: true });
  symlinkSync(pawl, `${path}.new`);
  renameSync(`${path}.new`, path);
}
