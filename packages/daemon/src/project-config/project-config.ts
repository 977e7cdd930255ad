import { gateLimits } from '@pawl/core/guard/gate-limit';
import { firstLine } from '@pawl/core/shorten';
import { fileAt } from '@pawl/git/repository/change-diff';
import { currentBranch } from '@pawl/git/merge/merge';
import { hasCommit } from '@pawl/git/merge/queue-objects';
import { defaultBranch, remoteUrl } from '@pawl/git/repository/remote';
import type { Repository } from '@pawl/git/repository/repository';
import { branchTip, headOf } from '@pawl/git/repository/repository';
import type { CheckStep, Queue } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Checkout, ProjectConfig, Staff } from '@pawl/schema/project-config';
import type { Project } from '@pawl/schema/record';
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultDefinition } from '../definitions/default-definition.ts';
import type { Cache, Caches } from '../platform/caches.ts';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory } from '../platform/platform.ts';
import { readCheckoutFile } from './checkout-file.ts';
import type { ConfigFile } from './config-file.ts';
import { configPath, parseConfigFile } from './config-file.ts';

/** The reviewer of a project that requires reviews and names none. */
const defaultReviewer = 'review';

type Found = Pick<ProjectConfig, 'source' | 'checkout'> & { file: ConfigFile };

/**
 * Reads a project's configuration: from this commit of its target branch, else from the person's checkout, else the
 * defaults. A commit of the target branch has passed the gate, so it takes precedence over a file in a directory. An
 * invalid file is an error, never the same as none.
 */
export async function readProjectConfig(
  platform: Pick<Platform, 'home' | 'caches'>,
  project: Project,
  repository: Repository,
  commit: string | null,
): Promise<ProjectConfig> {
  const { file, source, checkout } = (commit === null
    ? null
    : await committedConfig(platform, project, repository, commit)) ??
    (await checkoutConfig(platform, project, repository)) ?? {
      file: await parseConfigFile('', configPath),
      source: 'none' as const,
      checkout: null,
    };
  const { queue } = file;
  return {
    ...stepsOf(file),
    env: file.env,
    branch: queue.branch ?? null,
    method: queue.merge ?? 'squash',
    batch: queue.batch ?? limits.batchChanges,
    parallel: queue.parallel ?? null,
    remote: await remoteOf(platform.caches, repository, queue.remote),
    auto: queue.auto ?? false,
    enabled: queue.enabled ?? true,
    playground: file.playground && source === 'commit',
    forge: queue.forge ?? 'local',
    track: queue.track ?? 'all',
    review: staffOf(file.review, defaultReviewer),
    fixer: staffOf(file.fixer, defaultDefinition),
    guard: { enabled: queue.guard ?? true, paths: queue.guard_paths ?? [] },
    access: file.access,
    rules: file.rules,
    source,
    checkout,
  };
}

/**
 * Reads the configuration at the commit that the queue saw last, which saves a git call, else at the target branch. A
 * commit that the repository no longer has, after a new clone or a rewrite, counts as none.
 */
export async function readLastConfig(
  platform: Pick<Platform, 'home' | 'caches'>,
  project: Project,
  repository: Repository,
  queue: Pick<Queue, 'seen' | 'branch'> | null,
): Promise<{ commit: string | null; config: ProjectConfig }> {
  const seen = queue?.seen ?? null;
  try {
    if (seen !== null) return { commit: seen, config: await readProjectConfig(platform, project, repository, seen) };
  } catch (error) {
    if (await hasCommit(repository, ownGitDirectory(platform.home, project.id), seen ?? '')) throw error;
  }
  const commit = await branchTip(repository, queue?.branch ?? (await defaultBranch(repository)));
  return { commit, config: await readProjectConfig(platform, project, repository, commit) };
}

/** By commit: a commit's file never changes, so it is read once. */
const committedFiles: Cache<Map<string, ConfigFile | null>> = { empty: () => new Map() };

async function committedConfig(
  platform: Pick<Platform, 'home' | 'caches'>,
  project: Project,
  repository: Repository,
  commit: string,
): Promise<Found | null> {
  const known = platform.caches.of(committedFiles);
  let file = known.get(commit);
  if (file === undefined) {
    const ownDir = ownGitDirectory(platform.home, project.id);
    const place = `${configPath} of ${commit.slice(0, 10)}`;
    const found = await fileAt(repository, ownDir, commit, configPath, gateLimits.configBytes);
    if (found.is === 'unusable') throw unusableConfig(place, found.why);
    file = found.is === 'absent' ? null : await parseConfigFile(textOf(found.content), place);
    const [oldest] = known.keys();
    if (known.size >= gateLimits.knownConfigs && oldest !== undefined) known.delete(oldest);
    known.set(commit, file);
  }
  return file === null ? null : { file, source: 'commit', checkout: null };
}

/** By path, the file of a checkout as last read; usually it is unchanged. */
const checkoutFiles: Cache<Map<string, { text: string; file: ConfigFile }>> = { empty: () => new Map() };

async function checkoutConfig(
  platform: Pick<Platform, 'home' | 'caches'>,
  project: Project,
  repository: Repository,
): Promise<Found | null> {
  if (repository.bare) return null;
  const place = `${repository.root}/${configPath}`;
  const lastRead = platform.caches.of(checkoutFiles);
  const bytes = await readCheckoutFile(repository.root, configPath, gateLimits.configBytes);
  if (bytes === null) {
    lastRead.delete(place);
    return null;
  }
  const text = textOf(bytes);
  const before = lastRead.get(place);
  const file = before?.text === text ? before.file : await parseConfigFile(text, place);
  lastRead.set(place, { text, file });
  const checkout = await checkoutOf(repository, ownGitDirectory(platform.home, project.id), bytes);
  return { file, source: 'checkout', checkout };
}

/** The commit of a person's checkout, and whether it contains the configuration with this content. */
async function checkoutOf(repository: Repository, ownDir: string, content: Buffer): Promise<Checkout> {
  const branch = await currentBranch(repository);
  const commit = await headOf(repository.commonDir);
  const found = commit === null ? null : await fileAt(repository, ownDir, commit, configPath, gateLimits.configBytes);
  return { branch, commit, hasFile: found?.is === 'file' && content.equals(found.content) };
}

function unusableConfig(place: string, why: string): PawlError {
  return new PawlError('invalid_input', `${place} cannot be read: ${why}.`, {
    hint: 'Put a plain file there, or remove it. Until then nothing is merged.',
  });
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new PawlError('invalid_input', `${configPath} is not UTF-8 text.`, {
      hint: 'Correct it. Until then nothing is merged.',
      cause: error,
    });
  }
}

/** The steps in order, and a plan id: the same commands with the same limits have the same plan. */
function stepsOf({ checks, env, sandbox }: ConfigFile): { checks: CheckStep[]; plan: string } {
  const steps = checks.map(({ name, run, timeout_minutes: minutes, junit = [], network }): CheckStep => {
    const timeoutMs = minutes === undefined ? limits.checkMs : Math.max(1, Math.round(minutes * 60_000));
    const step = { name: name ?? firstLine(run, nameCharacters), run, timeoutMs, junit };
    return (network ?? sandbox.network) === true ? { ...step, network: true } : step;
  });
  // Without network the plan stays the one of earlier releases.
  const named = steps.map(({ run, timeoutMs, junit, network }) => [
    run,
    timeoutMs,
    junit,
    ...(network ? ['network'] : []),
  ]);
  const plan = createHash('sha256').update(JSON.stringify([named, env.toSorted()]));
  return { checks: steps, plan: plan.digest('hex') };
}

const nameCharacters = 60;

/** `origin` by default, if it exists. */
async function remoteOf(
  caches: Caches,
  repository: Repository,
  said: string | false | undefined,
): Promise<string | null> {
  if (said === false || said === 'none') return null;
  if (said !== undefined) return said;
  return (await hasOrigin(caches, repository)) ? 'origin' : null;
}

/** Whether a repository has the default remote, by the content of its config. */
const knownOrigins: Cache<Map<string, { config: string; atMs: number; is: boolean }>> = { empty: () => new Map() };

/**
 * Asks git when the repository's config has changed, and at intervals because of included files: every listing of
 * changes needs this.
 */
async function hasOrigin(caches: Caches, repository: Repository): Promise<boolean> {
  const origins = caches.of(knownOrigins);
  const file = await stat(join(repository.commonDir, 'config'), { bigint: true }).catch(() => null);
  const config = file === null ? '' : [file.ino, file.size, file.mtimeNs, file.ctimeNs].join(' ');
  const before = origins.get(repository.commonDir);
  const atMs = performance.now();
  if (before?.config === config && atMs - before.atMs < gateLimits.originMs) return before.is;
  const is = (await remoteUrl(repository, 'origin')) !== null;
  origins.set(repository.commonDir, { config, atMs, is });
  return is;
}

function staffOf(said: ConfigFile['review'], usual: string): Staff | null {
  if (said === false) return null;
  const { as, provider, model, options } = said === true ? {} : said;
  return { definition: as ?? usual, provider: provider ?? null, model: model ?? null, options: options ?? {} };
}
