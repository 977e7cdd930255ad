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
import { createGate } from '@pawl/core/sessions/turn-taking';
import type { ProcessRequest, ProcessResult } from './run-process.ts';
import { runProcess } from './run-process.ts';

export type GitOutput = {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** The command printed more than was asked for and was ended; `stdout` is the beginning. */
  truncated: boolean;
};

export type GitOptions = {
  /** Exit codes that are an answer and not a failure, beside 0. */
  answers?: readonly number[];
  /** Where it runs; where git works in any case when left out. */
  cwd?: string;
  maxBytes?: number;
  /** Return the beginning of an output that is too long, instead of failing. */
  mayTruncate?: boolean;
  /** What the command reads from its standard input; nothing when left out. */
  input?: Uint8Array;
  /** A file that the command reads as its standard input. */
  inputFile?: string;
  /** One character of `stdout` stands for one byte (Latin-1), so that names which are not UTF-8 survive. */
  asBytes?: boolean;
  /** The list of commits whose parents are not there, of a repository that has a part of its history only. */
  shallowFile?: string;
};

/**
 * What may run on the user's repository: nothing that checks files out, compares or filters them, because filters and
 * drivers have names of their own and cannot all be overruled.
 */
const userCommands = new Set(['rev-parse', 'for-each-ref', 'worktree', 'update-ref', 'rev-list', 'symbolic-ref']);

/** Runs git on the user's repository, for its refs and its list of worktrees only. */
export function runInUserRepository(gitDir: string, args: readonly string[], options: GitOptions = {}) {
  const command = args[0] ?? '';
  if (!userCommands.has(command)) throw new Error(`git ${command} must not run on the user's repository`);
  if (args[1] === 'add' && !args.includes('--no-checkout')) throw new Error('worktree add must not check files out');
  return run(options.cwd ?? gitDir, [`--git-dir=${gitDir}`], args, withoutForeignConfig, options);
}

/** Runs git where the user points, to find the repository. Git's own check of who owns it needs the user's config. */
export function runToDiscover(cwd: string, args: readonly string[], options: GitOptions = {}) {
  return run(cwd, [], args, {}, options);
}

/** Runs git without any repository, such as `init`. */
export function runWithoutRepository(cwd: string, args: readonly string[]) {
  return run(cwd, [], args, withoutForeignConfig, {});
}

/** A worktree of the user's repository as seen through Pawl's own git directory. */
export type OwnView = { ownDir: string; objectsDir: string; adminDir: string; path: string };

/**
 * Runs git on the files of a worktree. The index is the worktree's real one; config, hooks and attributes come from
 * Pawl's own directory, and the user's repository only lends its objects. So nothing planted in the user's shared
 * config runs.
 */
export function runOnFiles(view: OwnView, args: readonly string[], options: GitOptions = {}) {
  const environment = {
    ...withoutForeignConfig,
    GIT_COMMON_DIR: view.ownDir,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(view.objectsDir),
  };
  return run(view.path, [`--git-dir=${view.adminDir}`, `--work-tree=${view.path}`], args, environment, options);
}

/** Files as they lie on disk, seen through a git directory that converts nothing. */
export type RawView = {
  /** A bare repository whose config and attributes turn every conversion off. */
  rawDir: string;
  /** Where new objects go. */
  objectsDir: string;
  /** Where objects may be found as well. */
  otherObjects: readonly string[];
  /** A directory with a HEAD; nothing else in it is read but the index. */
  gitDir: string;
  indexFile: string;
  path: string;
};

/** Runs git on files byte by byte: neither line endings nor filters nor encodings are applied, whatever a repository says. */
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

/** Runs git on a bare repository that only Pawl writes, with the objects of others at hand. */
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
 * Runs git between a bare repository that only Pawl writes and a remote one. The person's own config and keys count, as
 * when they fetch or push themselves; no repository's config does.
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
    gate: throughNetworkGate,
    start: runSupervised,
  };
  return run(gitDir, [`--git-dir=${gitDir}`], args, environment, options, manner);
}

/** Runs a command that may wait for a remote for minutes: it ends with this process, which the short local ones need not. */
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

/** Runs git with Pawl's own config; the objects that it makes go to the user's repository, where they are wanted. */
export function runForUserRepository(
  ownDir: string,
  objectsDir: string,
  args: readonly string[],
  options: GitOptions = {},
) {
  const environment = { ...withoutForeignConfig, GIT_OBJECT_DIRECTORY: objectsDir };
  return run(options.cwd ?? ownDir, [`--git-dir=${ownDir}`], args, environment, options);
}

/** The file of ignore patterns that the user's config names; null when it names none. Reading config runs nothing. */
export async function readExcludesFile(gitDir: string): Promise<string | null> {
  const args = ['config', '--type=path', '--get', 'core.excludesFile'];
  const { exitCode, stdout } = await run(gitDir, [`--git-dir=${gitDir}`], args, {}, { answers: [1, 128] });
  const path = stdout.replace(/\n$/, '');
  return exitCode === 0 && path !== '' ? path : null;
}

/** The addresses of a remote, as the user's config has them. Reading config runs nothing. */
export async function readRemoteUrls(gitDir: string, name: string): Promise<string[]> {
  const args = ['config', '-z', '--get-all', `remote.${name}.url`];
  const { stdout } = await run(gitDir, [`--git-dir=${gitDir}`], args, {}, { answers: [1] });
  return stdout.split('\0').slice(0, -1);
}

/** Quotes one entry of a colon-separated list in the way git reads it back. */
export function quotePath(path: string): string {
  return `"${path
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)}"`;
}

/** However many agents are started at once, the machine is not flooded with processes. */
const throughGate = createGate(gitLimits.processes);

/** A remote that does not answer keeps nobody waiting but others who want a remote. */
const throughNetworkGate = createGate(gitLimits.networkProcesses);

/** How a command is run: what it is hardened with, how many at once, and by what. */
type Manner = {
  options: readonly string[];
  environment: NodeJS.ProcessEnv;
  gate: typeof throughGate;
  start: typeof runProcess;
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
    gate: throughGate,
    start: runProcess,
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
