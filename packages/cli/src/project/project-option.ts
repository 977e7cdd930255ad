import { resolve } from 'node:path';

/** The option `-C, --project` of a command. */
export type ProjectOption = { project?: string };

/** The path of the named repository, if any. */
export function projectPath({ project }: ProjectOption): { path?: string } {
  return project === undefined ? {} : { path: resolve(project) };
}
