import type { ProviderPreset } from '@pawl/core/port/provider';
import { isPlanningMode } from '@pawl/core/plan/output-file';
import { confinedGit, confineWorktree } from '@pawl/git/confined/confined-worktree';
import { foldPrivateObjects } from '@pawl/git/confined/private-objects';
import { programs } from '@pawl/protocol/node/programs';
import { programOf } from '@pawl/providers/detect';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { LaunchSpec, Mount } from '@pawl/schema/launch-spec';
import type { Agent, Session } from '@pawl/schema/record';
import { existsSync, mkdirSync } from 'node:fs';
import { basename, extname, isAbsolute, join } from 'node:path';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { placesOf, workingDirectory } from '../platform/places.ts';
import type { Platform } from '../platform/platform.ts';
import { projectOf, repositoryOf } from '../platform/platform.ts';
import { cacheVariables, machineMounts, shows } from '../platform/sandbox-view.ts';
import { localServices, networkFor } from '../rules/session-network.ts';

type Confined = {
  agent: Agent;
  session: Pick<Session, 'id' | 'accountId'>;
  preset: ProviderPreset;
  /** Its temporary directory. */
  temporary: string;
};

/** Whether an agent's next session runs in a sandbox. Refuses an agent that has its access only in one. */
export async function isConfined(platform: Platform, { alias, accessNeeds }: Agent): Promise<boolean> {
  const confinement = await platform.sandbox.confinement(platform.choices);
  if (confinement.sandbox === 'missing' && accessNeeds === 'sandbox') {
    const { reason, hint } = confinement;
    const off = 'Or let it do everything that you can do: `pawl config set sandbox off`.';
    // The run ends with this text.
    throw new PawlError('conflict', `${alias} has full access only in a sandbox. ${reason} ${hint} ${off}`);
  }
  return confinement.sandbox === 'on';
}

/** The launch of a session in a sandbox, if it runs in one. Prepares its worktrees. */
export async function sandboxed(
  platform: SessionPlatform,
  launch: LaunchSpec,
  confined: Confined,
): Promise<LaunchSpec> {
  const machine = await platform.sandbox.machine(platform.choices);
  if (machine === null) return launch;
  const { agent, preset, temporary } = confined;
  const { environment } = launch;
  const mounts: Mount[] = [
    ...machineMounts(platform, machine, { environment, programs: [launch.command, programOf(preset)] }),
    ...accountMounts(preset, environment),
    ...scriptedMounts(agent, preset),
    ...doorMounts(platform),
    ...(await worktreeMounts(platform, agent)),
  ];
  const limits = platform.choices.sandbox.limits;
  const network = await networkFor(platform, confined);
  return {
    ...(network === null ? launch : behindProxy(platform, launch, localServices(network))),
    environment: { ...environment, ...cacheVariables(temporary), ...confinedGit },
    sandbox: { temporary, mounts, network: network === null ? 'host' : 'none', limits },
  };
}

/** A launch without network but for the proxy and services on this machine, at the same ports as outside. */
function behindProxy({ home }: Platform, launch: LaunchSpec, services: string[]): LaunchSpec {
  const { port } = new URL(launch.environment['HTTPS_PROXY'] ?? '');
  const forward = [...programs.proxy, 'forward', port, home.proxySocket, ...services];
  const words = [...forward, '--', launch.command, ...launch.arguments];
  return { ...launch, command: process.execPath, arguments: words };
}

/** After a session, when nothing of it runs: moves the objects that it wrote into its repositories. */
export async function settleObjects(platform: Platform, agent: Agent): Promise<void> {
  for (const { agent: there } of await placesOf(platform.store.db, agent)) {
    try {
      const repository = await repositoryOf(platform, await projectOf(platform.store, there));
      const { refused } = await foldPrivateObjects(repository, agent.id);
      if (refused.length > 0)
        platform.log.warn({ agent: agent.alias, objects: refused.slice(0, 10) }, 'refused forged or damaged objects');
    } catch (error) {
      // They stay visible where they are, and the next session's end tries again.
      platform.log.warn({ agent: agent.alias, error: messageOf(error) }, 'failed to take over objects');
    }
  }
}

async function worktreeMounts(platform: Platform, agent: Agent): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const { agent: there } of await placesOf(platform.store.db, agent)) {
    const repository = await repositoryOf(platform, await projectOf(platform.store, there));
    const path = workingDirectory({ ...there, workdir: null });
    const confined = await confineWorktree(repository, { path, branch: there.branch, name: agent.id });
    mounts.push(...(isPlanningMode(agent.mode) ? onlyOutput(confined, path) : confined));
  }
  return mounts;
}

/** The mounts of a planning agent: everything read-only but `.pawl/output` in its worktree. */
function onlyOutput(mounts: readonly Mount[], worktree: string): Mount[] {
  const output = join(worktree, '.pawl', 'output');
  mkdirSync(output, { recursive: true });
  const closed = mounts.map((mount) => (mount.show === 'writable' ? { ...mount, show: 'readable' as const } : mount));
  return [...closed, ...shows(output, 'writable')];
}

/** The directory with the CLI's login: the one that a variable names, else the usual ones in the person's home. */
function accountMounts(preset: ProviderPreset, environment: Readonly<Record<string, string>>): Mount[] {
  const named = environment[preset.account?.directory ?? ''] ?? '';
  if (isAbsolute(named)) {
    mkdirSync(named, { recursive: true, mode: 0o700 });
    return shows(named, 'writable');
  }
  const home = environment['HOME'];
  if (home === undefined || !isAbsolute(home)) return [];
  return (preset.homePlaces ?? []).flatMap((path) => {
    const place = join(home, path);
    // The CLI would make it at its first start, and lose its conversations in a directory that ends with the sandbox.
    if (extname(path) === '' && existsSync(home)) mkdirSync(place, { recursive: true, mode: 0o700 });
    return shows(place, 'writable');
  });
}

/** The scripted agent reads its scenario. */
function scriptedMounts(agent: Agent, preset: ProviderPreset): Mount[] {
  return preset.scripted === true ? shows(agent.options['scenario'] ?? '', 'readable') : [];
}

/** The daemon's socket, by a directory that later daemons put theirs into, too. The person's token stays hidden. */
function doorMounts({ home }: Platform): Mount[] {
  const door = join(home.door, basename(home.socket));
  return [...shows(home.door, 'readable'), { at: home.socket, show: 'link', to: door }];
}
