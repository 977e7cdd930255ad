import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { Commands } from '../../src/tools/commands.ts';
import type { WriteSafety } from '../../src/tools/file-memory.ts';
import { FileMemory } from '../../src/tools/file-memory.ts';
import { allTools, prepareCall } from '../../src/tools/tool-set.ts';
import type { ToolContext, ToolOutcome } from '../../src/tools/tool.ts';

export type Workspace = {
  root: string;
  outside: string;
  context: ToolContext;
  stop: AbortController;
  call(name: string, input: unknown): Promise<ToolOutcome>;
} & AsyncDisposable;

/** A repository with the tools of a session. */
export async function openWorkspace(safety: WriteSafety = 'warn'): Promise<Workspace> {
  const directory = await temporaryDirectory('pawl-engine');
  const root = join(directory.path, 'workspace');
  const outside = join(directory.path, 'outside');
  await Promise.all([mkdir(root), mkdir(outside)]);
  await git(root, ['init', '-q', '-b', 'main']);
  const stop = new AbortController();
  const commands = new Commands({ cwd: root, env: process.env, outputDirectory: join(directory.path, 'output') });
  const context: ToolContext = {
    root,
    signal: stop.signal,
    files: new FileMemory(safety),
    commands,
    todo: { items: [] },
  };
  return {
    root,
    outside,
    context,
    stop,
    async call(name, input) {
      const prepared = prepareCall(allTools, name, input);
      return 'problem' in prepared ? { text: prepared.problem, isError: true } : await prepared.run(context);
    },
    async [Symbol.asyncDispose]() {
      await commands.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}
