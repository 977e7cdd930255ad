import type { Diagnosis, Finding } from '@pawl/protocol/view';
import { trashWorktree } from '@pawl/git/trash';
import { runWithoutRepository } from '@pawl/git/command';
import { strayProcesses } from '@pawl/host/stray';
import { hasErrno, messageOf } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { worktreesInUse } from '@pawl/store/agents';
import { listProjects } from '@pawl/store/projects';
import { openSessions } from '@pawl/store/sessions';
import { existsSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reconciler } from '../reconcile/reconciler.ts';
import type { Workshop } from '../workshop.ts';
import { repositoryOf } from '../workshop.ts';

export type Doctor = { examine(): Promise<Diagnosis>; repair(): Promise<Diagnosis> };

const lowDiskBytes = 512 * 1024 * 1024;

/** Compares what is on this machine with what the registry says. It repairs nothing that could hold work, but by moving it to the trash. */
export function createDoctor(shop: Workshop, reconciler: Reconciler): Doctor {
  async function examine(): Promise<Diagnosis> {
    const findings = [
      await checkGit(),
      await checkDisk(shop),
      checkStore(reconciler),
      await checkHome(shop),
      ...(await checkProjects(shop)),
      ...(await orphanedWorktrees(shop)).map(orphanFinding),
      ...(await missingWorktrees(shop)),
    ];
    return { findings, fixed: [] };
  }

  async function repair(): Promise<Diagnosis> {
    const fixed: string[] = [];
    for (const orphan of await orphanedWorktrees(shop)) {
      const trashed = await trashWorktree(await repositoryOf(orphan.project), {
        path: orphan.path,
        trashDir: shop.home.trash,
        branch: `work/${orphan.name}`,
        at: Date.now(),
      });
      if (trashed !== null) fixed.push(`moved ${orphan.path} to ${trashed.entry}`);
    }
    for (const session of await openSessions(shop.store.db)) reconciler.wake(session.agentId);
    return { ...(await examine()), fixed };
  }

  return { examine, repair };
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
      hint: 'Install git 2.31 or newer.',
      fixable: false,
    };
  }
}

async function checkDisk(shop: Workshop): Promise<Finding> {
  const { bavail, bsize } = await statfs(shop.home.root);
  const free = bavail * bsize;
  const message = `${Math.round(free / 1024 / 1024)} MB free at ${shop.home.root}`;
  return free < lowDiskBytes
    ? {
        check: 'disk',
        level: 'warning',
        message,
        hint: 'Agents are paused when the disk is full; make room.',
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
        hint: 'It is tried again; nothing is lost.',
        fixable: false,
      };
}

async function checkHome(shop: Workshop): Promise<Finding> {
  const { mode } = await stat(shop.home.token);
  return (mode & 0o077) === 0
    ? { check: 'home', level: 'ok', message: `${shop.home.root} is private`, fixable: false }
    : {
        check: 'home',
        level: 'error',
        message: `${shop.home.token} can be read by others`,
        hint: `chmod 600 '${shop.home.token}'`,
        fixable: false,
      };
}

async function checkProjects(shop: Workshop): Promise<Finding[]> {
  const projects = await listProjects(shop.store.db);
  return projects
    .filter((project) => !existsSync(project.root))
    .map((project) => ({
      check: 'project',
      level: 'warning',
      message: `${project.name} is gone from ${project.root}`,
      hint: 'Move it back, or leave it: nothing depends on it.',
      fixable: false,
    }));
}

type Orphan = { path: string; name: string; project: Project };

/** Directories where worktrees are made that belong to no agent of the registry. Only our own root is looked at. */
async function orphanedWorktrees(shop: Workshop): Promise<Orphan[]> {
  const inUse = await worktreesInUse(shop.store.db);
  const orphans: Orphan[] = [];
  for (const project of await listProjects(shop.store.db)) {
    const root = join(shop.home.worktrees, project.name);
    for (const name of await entriesOf(root)) {
      const path = join(root, name);
      if (!inUse.has(path) && existsSync(project.root)) orphans.push({ path, name, project });
    }
  }
  return orphans;
}

async function entriesOf(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

function orphanFinding({ path }: Orphan): Finding {
  return {
    check: 'worktree',
    level: 'warning',
    message: `${path} belongs to no agent`,
    hint: '`pawl doctor --fix` moves it to the trash, from where it can be taken back.',
    fixable: true,
  };
}

/** Agents at work whose worktree is gone, and processes of theirs that are still there. */
async function missingWorktrees(shop: Workshop): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const session of await openSessions(shop.store.db)) {
    if (session.startedAt === null || strayProcesses(session.id).length > 0) continue;
    findings.push({
      check: 'session',
      level: 'warning',
      message: `session ${session.no} of agent ${session.agentId} has no process`,
      hint: 'It is ended at the next look; --fix looks now.',
      fixable: true,
    });
  }
  return findings;
}
