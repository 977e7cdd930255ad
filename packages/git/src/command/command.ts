import { execa } from 'execa';
import { limits } from '@pawl/schema/limit';
import { gitFailed, unfinished } from './git-failure.ts';
import {
  gitEnvironment,
  hardenedOptions,
  networkEnvironment,
  networkOptions,
  withoutForeignConfig,
} from './hardening.ts';
import { gitLimits } from './limit.ts';
import { createLimiter } from '@pawl/core/sessions/turn-taking';
import type { ProcessRequest, ProcessResult } from './run-process.ts';
import { ProcessHelper } from './process-helper.ts';

export type GitOutput = {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** The output exceeded the limit and the command was ended; `stdout` is the beginning. */
  truncated: boolean;
};

export type GitOptions = {
  /** Exit codes besides 0 that are an answer, not a failure. */
  answers?: readonly number[];
  /** Working directory. */
  cwd?: string;
  maxBytes?: number;
  /** Return the beginning of an oversized output instead of failing. */
  mayTruncate?: boolean;
  /** Standard input; empty by default. */
  input?: Uint8Array;
  /** A file to use as standard input. */
  inputFile?: string;
  /** Decode `stdout` as Latin-1, one character per byte, so that names which are not UTF-8 survive. */
  asBytes?: boolean;
  /** The shallow file of a repository with partial history. */
  shallowFile?: string;
};

/**
 * Commands allowed on the user's repository: none that checks files out, compares or filters them, because filters and
 * drivers have arbitrary names and cannot all be overridden.
 */
const userCommands = new Set(['rev-parse', 'for-each-ref', 'worktree', 'update-ref', 'rev-list', 'symbolic-ref']);

/** Runs git on the user's repository, only for its refs and its worktree list. */
export function runInUserRepository(gitDir: string, args: readonly string[], options: GitOptions = {}) {
  const command = args[0] ?? '';
  if (!userCommands.has(command)) throw new Error(`git ${command} must not run on the user's repository`);
  if (args[1] === 'add' && !args.includes('--no-checkout')) throw new Error('worktree add must not check files out');
  return run(options.cwd ?? gitDir, [`--git-dir=${gitDir}`], args, withoutForeignConfig, options);
}

/** Runs git in the given directory to find the repository. Git's ownership check needs the user's config. */
export function runToDiscover(cwd: string, args: readonly string[], options: GitOptions = {}) {
  return run(cwd, [], args, {}, options);
}

/** Runs git without a repository, such as `init`. */
export function runWithoutRepository(cwd: string, args: readonly string[]) {
  return run(cwd, [], args, withoutForeignConfig, {});
}

/** A worktree of the user's repository, accessed through Pawl's own git directory. */
export type OwnView = { ownDir: string; objectsDir: string; adminDir: string; path: string };

/**
 * Runs git on the files of a worktree. Uses the worktree's real index; config, hooks and attributes come from Pawl's
 * own directory, and the user's repository only lends its objects. So nothing planted in the user's shared config runs.
 */
export function runOnFiles(view: OwnView, args: readonly string[], options: GitOptions = {}) {
  const environment = {
    ...withoutForeignConfig,
    GIT_COMMON_DIR: view.ownDir,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(view.objectsDir),
  };
  return run(view.path, [`--git-dir=${view.adminDir}`, `--work-tree=${view.path}`], args, environment, options);
}

/** Files as they are on disk, accessed through a git directory that converts nothing. */
export type RawView = {
  /** A bare repository whose config and attributes disable every conversion. */
  rawDir: string;
  /** Receives new objects. */
  objectsDir: string;
  /** Further object directories to read from. */
  otherObjects: readonly string[];
  /** A directory with a HEAD; besides that, only the index in it is read. */
  gitDir: string;
  indexFile: string;
  path: string;
};

/** Runs git on raw bytes: no line endings, filters or encodings are applied, whatever a repository says. */
export function runOnRawFiles(view: RawView, args: readonly string[], options: GitOptions = {}) {
  const environment = {
    ...withoutForeignConfig,
    GIT_COMMON_DIR: view.rawDir,
    GIT_OBJECT_DIRECTORY: view.objectsDir,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: view.otherObjects.map(quotePath).join(':'),
    GIT_INDEX_FILE: view.indexFile,
    ...shallowEnvironment(options),
  };
  return run(view.path, [`--git-dir=${view.gitDir}`, `--work-tree=${view.path}`], args, environment, options);
}

/** Runs git on a bare repository that only Pawl writes, with access to other object directories. */
export function runInOwnRepository(
  gitDir: string,
  otherObjects: readonly string[],
  args: readonly string[],
  options: GitOptions = {},
) {
  const environment = {
    ...withoutForeignConfig,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: otherObjects.map(quotePath).join(':'),
    ...shallowEnvironment(options),
  };
  return run(options.cwd ?? gitDir, [`--git-dir=${gitDir}`], args, environment, options);
}

/**
 * Runs git between a bare repository that only Pawl writes and a remote. Uses the person's own config and keys, as if
 * they fetched or pushed themselves, but no repository's config.
 */
export function runOverNetwork(
  gitDir: string,
  otherObjects: readonly string[],
  args: readonly string[],
  options: GitOptions = {},
) {
  const environment = {
    GIT_ALTERNATE_OBJECT_DIRECTORIES: otherObjects.map(quotePath).join(':'),
    ...shallowEnvironment(options),
  };
  const manner: Manner = {
    options: networkOptions,
    environment: networkEnvironment(process.env),
    gate: throughNetworkLimiter,
    start: runSupervised,
  };
  return run(gitDir, [`--git-dir=${gitDir}`], args, environment, options, manner);
}

/** Runs a command that may wait for a remote for minutes, and dies with this process; short local ones need not. */
async function runSupervised(file: string, args: readonly string[], request: ProcessRequest): Promise<ProcessResult> {
  const { cwd, env, encoding, timeoutMs, maxBytes } = request;
  const { exitCode, signal, code, cause, stdout, stderr, timedOut, isMaxBuffer } = await execa(file, args, {
    cwd,
    env,
    extendEnv: false,
    stdin: 'ignore',
    encoding,
    reject: false,
    stripFinalNewline: false,
    timeout: timeoutMs,
    maxBuffer: maxBytes,
  });
  return {
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(code === undefined ? {} : { code }),
    cause,
    stdout,
    stderr,
    timedOut,
    isMaxBuffer,
  };
}

function shallowEnvironment({ shallowFile }: GitOptions): Record<string, string> {
  return shallowFile === undefined ? {} : { GIT_SHALLOW_FILE: shallowFile };
}

/** Runs git with Pawl's own config, writing objects to the user's repository. */
export function runForUserRepository(
  ownDir: string,
  objectsDir: string,
  args: readonly string[],
  options: GitOptions = {},
) {
  const environment = { ...withoutForeignConfig, GIT_OBJECT_DIRECTORY: objectsDir };
  return run(options.cwd ?? ownDir, [`--git-dir=${ownDir}`], args, environment, options);
}

/** The user's `core.excludesFile`, or null. Reading config runs nothing. */
export async function readExcludesFile(gitDir: string): Promise<string | null> {
  const args = ['config', '--type=path', '--get', 'core.excludesFile'];
  const { exitCode, stdout } = await run(gitDir, [`--git-dir=${gitDir}`], args, {}, { answers: [1, 128] });
  const path = stdout.replace(/\n$/, '');
  return exitCode === 0 && path !== '' ? path : null;
}

/** The URLs of a remote in the user's config. Reading config runs nothing. */
export async function readRemoteUrls(gitDir: string, name: string): Promise<string[]> {
  const args = ['config', '-z', '--get-all', `remote.${name}.url`];
  const { stdout } = await run(gitDir, [`--git-dir=${gitDir}`], args, {}, { answers: [1] });
  return stdout.split('\0').slice(0, -1);
}

/** Quotes one entry of a colon-separated list for git. */
export function quotePath(path: string): string {
  return `"${path
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)}"`;
}

/** Bounds git processes, however many agents start at once. */
const throughLimiter = createLimiter(gitLimits.processes);

/** Starts git for all of this process. */
const helper = new ProcessHelper();

/** Separate, so that a slow remote delays only other remote commands. */
const throughNetworkLimiter = createLimiter(gitLimits.networkProcesses);

/** How to run a command: hardening, concurrency limit, and runner. */
type Manner = {
  options: readonly string[];
  environment: NodeJS.ProcessEnv;
  gate: typeof throughLimiter;
  start: ProcessHelper['run'];
};

async function run(
  cwd: string,
  place: readonly string[],
  args: readonly string[],
  environment: Record<string, string>,
  options: GitOptions,
  manner: Manner = {
    options: hardenedOptions,
    environment: gitEnvironment(process.env),
    gate: throughLimiter,
    start: (...words) => helper.run(...words),
  },
): Promise<GitOutput> {
  const { input, inputFile } = options;
  const result = await manner.gate(() =>
    manner.start('git', [...manner.options, ...place, ...args], {
      cwd,
      env: { ...manner.environment, ...environment },
      ...(input === undefined ? {} : { input }),
      ...(inputFile === undefined ? {} : { inputFile }),
      encoding: options.asBytes ? 'latin1' : 'utf8',
      timeoutMs: limits.gitMs,
      maxBytes: options.maxBytes ?? gitLimits.outputBytes,
    }),
  );
  const { stdout, stderr } = result;
  if (result.isMaxBuffer && options.mayTruncate) return { exitCode: 0, stdout, stderr, truncated: true };
  const { exitCode } = result;
  if (exitCode === undefined || result.isMaxBuffer) throw unfinished(args, cwd, result);
  if (exitCode !== 0 && !options.answers?.includes(exitCode)) throw gitFailed(args, exitCode, stderr);
  return { exitCode, stdout, stderr, truncated: false };
}
