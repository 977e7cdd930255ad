import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { count } from '../format.ts';
import { withDaemon } from '../launch.ts';
import { printableLine } from '../terminal.ts';

/** Trusts the definition files of a repository as they are now, or takes that back. */
export async function trust(context: CommandContext, path: string, options: { revoke?: boolean }): Promise<number> {
  const body = { path: resolve(path), ...(options.revoke && { revoke: true }) };
  const answer = await withDaemon(context.home, (client) => client.trust(body));
  const { colours } = context;
  context.answer('trust', answer, () => {
    const { project, files } = answer;
    if (options.revoke) return `nothing of ${colours.bold(project)} is trusted any more`;
    if (files.length === 0) return `${colours.bold(project)} has no definition files; there is nothing to trust`;
    return [
      `${count(files.length, 'file')} of ${colours.bold(project)} ${files.length === 1 ? 'is' : 'are'} trusted as ${files.length === 1 ? 'it is' : 'they are'} now:`,
      ...files.map((file) => `  ${printableLine(file)}`),
    ].join('\n');
  });
  return 0;
}
