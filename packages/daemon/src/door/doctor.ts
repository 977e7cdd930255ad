import { divergedNews } from '@pawl/core/changes/diverged';
import type { Diagnosis, Finding } from '@pawl/protocol/daemon/view';
import { runWithoutRepository } from '@pawl/git/command/command';
import { messageOf } from '@pawl/schema/error';
import { readEvents } from '@pawl/store/events';
import { listProjects } from '@pawl/store/projects/projects';
import { openSessions } from '@pawl/store/sessions/sessions';
import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import { isRunning } from '../sessions/reconcile/session-process.ts';
import { configTrouble } from '../project-config/project-rules.ts';
import { divergenceOf } from '../queue/divergence.ts';
import { untrustedSettings } from '../definitions/trust/known-settings.ts';
import { agentPath } from '../platform/search-path.ts';
import { checkProviders } from '../providers/providers.ts';
import { detachedFinding, detachedWorktrees, reattach, stillDetached } from '../agents/worktrees/worktree-health.ts';
import { processFinding } from '../agents/process-finding.ts';
import { sandboxFindings } from './sandbox-finding.ts';
import { placesThere } from '../platform/kept-places.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { Orphan } from '../agents/worktrees/leftovers.ts';
import {
  endUnregistered,
  orphanedWorktrees,
  trashOrphan,
  unregisteredSessions,
} from '../agents/worktrees/leftovers.ts';

export type Doctor = { examine(): Promise<Diagnosis>; repair(): Promise<Diagnosis> };

const lowDiskBytes = 512 * 1024 * 1024;
/** How many files a finding names. */
const namedFiles = 10;

/** Compares the machine with the registry. Repairs nothing that could hold work, except by moving it to the trash. */
export function createDoctor(platform: DefinitionPlatform, reconciler: Reconciler): Doctor {
  async function examine(): Promise<Diagnosis> {
    const findings = [
      await checkGit(),
      await checkDisk(platform),
      await processFinding(),
      ...(await sandboxFindings(platform)),
      checkStore(reconciler),
      ...(await checkRestored(platform)),
      await checkToken(platform),
      ...(await checkProjects(platform)),
      ...(await checkConfigurations(platform)),
      ...(await checkDivergence(platform)),
      ...(await checkDefinitions(platform)),
      ...(await checkSettings(platform)),
      ...(await checkProviders({
        ...platform,
        choices: await platform.currentChoices(),
        path: await agentPath(platform, null),
      })),
      ...(await retainedWorktrees(platform)),
      ...(await detachedWorktrees(platform)).map(detachedFinding),
      ...(await orphanedWorktrees(platform)).map(orphanFinding),
      ...(await unregisteredSessions(platform)).map(unregisteredFinding),
      ...(await silentSessions(platform)),
    ];
    return { findings, fixed: [] };
  }

  async function repair(): Promise<Diagnosis> {
    const fixed: string[] = [];
    const failed: Finding[] = [];
    for (const id of await unregisteredSessions(platform)) {
      await endUnregistered(platform, id);
      fixed.push(`ended the processes of session ${id}`);
    }
    for (const detached of await detachedWorktrees(platform)) {
      try {
        await reconciler.inLane(detached.agent.id, () => reattach(platform, detached));
        fixed.push(`registered ${detached.path} with git again`);
      } catch (error) {
        platform.log.warn({ path: detached.path, error: messageOf(error) }, 'failed to reattach a worktree');
        failed.push(stillDetached(detached, error));
      }
    }
    for (const orphan of await orphanedWorktrees(platform)) {
      if (orphan.inUse || orphan.project === null) continue;
      try {
        const entry = await trashOrphan(platform, orphan);
        if (entry !== null) fixed.push(`moved ${orphan.path} to ${entry}`);
      } catch (error) {
        platform.log.warn({ path: orphan.path, error: messageOf(error) }, 'failed to remove an orphaned worktree');
      }
    }
    await reconciler.sweep();
    return { findings: [...(await examine()).findings, ...failed], fixed };
  }

  return { examine, repair };
}

async function checkConfigurations(platform: DefinitionPlatform): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const project of await listProjects(platform.store.db)) {
    const trouble = await configTrouble(platform, project);
    if (trouble === null) continue;
    const message = `${project.name}: nothing is checked or merged: ${trouble}`;
    const hint = 'Correct the file, and commit it on the target branch.';
    findings.push({ check: 'configuration', level: 'error', message, hint, fixable: false });
  }
  return findings;
}

async function checkDivergence(platform: DefinitionPlatform): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const project of await listProjects(platform.store.db)) {
    const divergence = await divergenceOf(platform, project);
    if (divergence === null) continue;
    const { text, next } = divergedNews(divergence);
    const message = `${project.name}: ${text}`;
    findings.push({ check: 'branch', level: 'warning', message, hint: next.join('; '), fixable: false });
  }
  return findings;
}

async function checkGit(): Promise<Finding> {
  try {
    const { stdout } = await runWithoutRepository('/', ['version']);
    return { check: 'git', level: 'ok', message: stdout.trim(), fixable: false };
  } catch (error) {
    return {
      check: 'git',
      level: 'error',
      message: messageOf(error),
      hint: 'Install git 2.32 or newer.',
      fixable: false,
    };
  }
}

async function checkDisk(platform: DefinitionPlatform): Promise<Finding> {
  const { bavail, bsize } = await statfs(platform.home.root);
  const free = bavail * bsize;
  const message = `${Math.round(free / 1024 / 1024)} MB free at ${platform.home.root}`;
  return free < lowDiskBytes
    ? {
        check: 'disk',
        level: 'warning',
        message,
        hint: 'Make room: nothing can be stored when the disk is full.',
        fixable: false,
      }
    : { check: 'disk', level: 'ok', message, fixable: false };
}

function checkStore(reconciler: Reconciler): Finding {
  const trouble = reconciler.ingest.trouble();
  return trouble === null
    ? { check: 'store', level: 'ok', message: 'output is being stored', fixable: false }
    : {
        check: 'store',
        level: 'error',
        message: `output cannot be stored: ${trouble}`,
        hint: 'It is retried; nothing is lost.',
        fixable: false,
      };
}

/** Reports a replaced database as long as that is the latest event about it. */
async function checkRestored(platform: DefinitionPlatform): Promise<Finding[]> {
  const [event] = (await readEvents(platform.store.db, { afterSeq: 0, limit: 1_000, types: ['store.restored'] })).slice(
    -1,
  );
  if (event === undefined) return [];
  const from = event.data['backup'] === null ? 'a new, empty one' : 'a backup';
  return [
    {
      check: 'store',
      level: 'warning',
      message: `the database was damaged on ${new Date(event.at).toISOString()} and replaced by ${from}`,
      hint: `The damaged one is kept in ${String(event.data['quarantined'])}.`,
      fixable: false,
    },
  ];
}

async function checkToken(platform: DefinitionPlatform): Promise<Finding> {
  const { mode } = await stat(platform.home.token);
  return (mode & 0o077) === 0
    ? { check: 'token', level: 'ok', message: 'only you can read the token', fixable: false }
    : {
        check: 'token',
        level: 'error',
        message: `${platform.home.token} can be read by others`,
        hint: `chmod 600 '${platform.home.token}'`,
        fixable: false,
      };
}

async function checkProjects(platform: DefinitionPlatform): Promise<Finding[]> {
  const projects = await listProjects(platform.store.db);
  return projects
    .filter((project) => !existsSync(project.root))
    .map((project) => ({
      check: 'project',
      level: 'warning',
      message: `${project.name} is gone from ${project.root}`,
      hint: 'If it was moved, run `pawl init` in its new place; its agents and worktrees come along.',
      fixable: false,
    }));
}

/** Definition files that cannot be used, or do not get what they ask for: the home's own, and each project's. */
async function checkDefinitions(platform: DefinitionPlatform): Promise<Finding[]> {
  const findings = new Map<string, Finding>();
  for (const project of [null, ...(await listProjects(platform.store.db))]) {
    const { problems, notices } = await platform.definitions.load(project);
    for (const { path, line, reason } of problems) {
      findings.set(`${path}:${line}:${reason}`, {
        check: 'definition',
        level: 'warning',
        message: `${path}:${line}: ${reason}`,
        hint: 'Correct the file; it is read again each time. The other definitions work.',
        fixable: false,
      });
    }
    for (const { path, line, reason } of notices) {
      findings.set(`${path}:${line}:${reason}`, {
        check: 'definition',
        level: 'warning',
        message: `${path}:${line}: ${reason}`,
        fixable: false,
      });
    }
  }
  return [...findings.values()];
}

/** Untrusted settings for coding CLIs in repositories. */
async function checkSettings(platform: DefinitionPlatform): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const project of await listProjects(platform.store.db)) {
    const names = (await untrustedSettings(platform, project)).map(({ path }) => path);
    if (names.length === 0) continue;
    const more = names.length > namedFiles ? ` and ${names.length - namedFiles} more` : '';
    findings.push({
      check: 'trust',
      level: 'warning',
      message: `${project.name} has untrusted settings: ${names.slice(0, namedFiles).join(', ')}${more}`,
      hint: `Agents ignore them, or are not started. See what they would do: pawl trust --list '${project.root}'`,
      fixable: false,
    });
  }
  return findings;
}

/** Worktrees of dead agents that were kept, because something in them would have been lost. */
async function retainedWorktrees(platform: DefinitionPlatform): Promise<Finding[]> {
  const places = await placesThere(platform);
  return places.flatMap(({ agent: { alias, worktree, worktreeEnd } }) =>
    worktreeEnd?.state !== 'retained'
      ? []
      : [
          {
            check: 'worktree',
            level: 'warning' as const,
            message: `${worktree} of ${alias} was kept: ${worktreeEnd.reason}`,
            hint: 'Commit or move what is in it; `pawl worktree prune` then removes it.',
            fixable: false,
          },
        ],
  );
}

function orphanFinding({ path, project, inUse }: Orphan): Finding {
  if (project === null) {
    return {
      check: 'worktree',
      level: 'warning',
      message: `${path} belongs to no agent${inUse ? ', but a process works in it' : ''}`,
      hint: 'Inspect it, and move it away yourself.',
      fixable: false,
    };
  }
  return inUse
    ? {
        check: 'worktree',
        level: 'warning',
        message: `${path} belongs to no agent, but a process works in it`,
        fixable: false,
      }
    : {
        check: 'worktree',
        level: 'warning',
        message: `${path} belongs to no agent`,
        hint: '`pawl doctor --fix` moves it to the trash, from where it can be restored.',
        fixable: true,
      };
}

function unregisteredFinding(id: string): Finding {
  return {
    check: 'session',
    level: 'error',
    message: `session ${id} runs, but the registry does not know it`,
    hint: '`pawl doctor --fix` ends its processes; its worktree and output stay.',
    fixable: true,
  };
}

/** Sessions that should have a process and have none. */
async function silentSessions(platform: DefinitionPlatform): Promise<Finding[]> {
  const silent = (await openSessions(platform.store.db)).filter(
    (session) => session.startedAt !== null && !isRunning(session),
  );
  return silent.map((session) => ({
    check: 'session',
    level: 'warning',
    message: `session ${session.no} of agent ${session.agentId} has no process`,
    hint: 'It is ended at the next health check; --fix does it now.',
    fixable: true,
  }));
}
