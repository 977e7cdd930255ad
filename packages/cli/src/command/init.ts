import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { reachDaemon } from '../launch.ts';
import { printableLine } from '../terminal.ts';

/** Puts the repository around the given path under Pawl's care. Nothing in it is changed. */
export async function init(context: CommandContext, path: string, options: { name?: string }): Promise<number> {
  const client = await reachDaemon(context.home);
  const { project, created } = await client.addProject({
    path: resolve(path),
    ...(options.name === undefined ? {} : { name: options.name }),
  });
  const root = printableLine(project.root);
  context.answer('project', { ...project, created }, () =>
    created
      ? `${context.colours.bold(project.name)} is now a project (${root})\n${context.colours.dim('next: pawl work "what to do" --provider scripted')}`
      : `${context.colours.bold(project.name)} is a project already (${root})`,
  );
  return 0;
}
