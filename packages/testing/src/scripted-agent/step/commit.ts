import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { scriptedLimits } from '../limit.ts';
import type { Play, StepPlayer } from '../play.ts';
import type { ToolOutcome } from '../tool-command.ts';

const fallbackName = 'Scripted Agent';
const fallbackEmail = 'scripted-agent@example.invalid';

/** Commits what the scenario wrote since its last commit, or everything when it wrote nothing itself. */
export const playCommit: StepPlayer<'commit'> = async (play, message) => {
  const outcome = await play.writer.useTool(
    'Bash',
    { command: `git commit -m ${JSON.stringify(message)}` },
    async () => {
      const staged = await stage(play);
      return staged.failed ? staged : commit(play, message);
    },
  );
  if (!outcome.failed) play.conversation.written = [];
  return undefined;
};

async function stage(play: Play): Promise<ToolOutcome> {
  const { written } = play.conversation;
  const paths = written.filter((path) => !path.startsWith(`.pawl${sep}`) && existsSync(join(play.directory, path)));
  if (paths.length === 0 || paths.length > scriptedLimits.writtenPaths) {
    return git(play, ['add', '-A', '--', '.', ':(exclude).pawl']);
  }
  return git(play, ['--literal-pathspecs', 'add', '--', ...paths]);
}

async function commit(play: Play, message: string): Promise<ToolOutcome> {
  const known = await git(play, ['config', '--get-regexp', '^user\\.(name|email)$']);
  return git(play, ['-c', 'commit.gpgsign=false', 'commit', '-m', message], identity(known.text));
}

/** Names for the author and committer that neither git nor the environment knows. */
function identity(config: string): Record<string, string> {
  const name = /^user\.name \S/m.test(config) ? undefined : fallbackName;
  const email = /^user\.email \S/m.test(config) ? undefined : fallbackEmail;
  const environment: Record<string, string> = {};
  for (const who of ['GIT_AUTHOR', 'GIT_COMMITTER']) {
    if (name !== undefined && !process.env[`${who}_NAME`]) environment[`${who}_NAME`] = name;
    if (email !== undefined && !process.env[`${who}_EMAIL`]) environment[`${who}_EMAIL`] = email;
  }
  return environment;
}

function git(play: Play, args: string[], environment: Record<string, string> = {}): Promise<ToolOutcome> {
  const quiet = { GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: ':' };
  return play.tools.run({ program: 'git', args, environment: { ...quiet, ...environment } });
}
