import type { FakeAnswer } from './answer.ts';
import { Complaint, usage } from './answer.ts';
import type { Command } from './command.ts';
import type { FlagTable } from './flags.ts';
import { checkFields, readFlags } from './flags.ts';
import { readCommands } from './read-commands.ts';
import type { FakeState, FakeTrouble } from './state.ts';
import { withState } from './state.ts';
import { writeCommands } from './write-commands.ts';

const commands: Record<string, Command> = { ...readCommands, ...writeCommands };

/** Runs one command of `gh` against the server with its state in this file. */
export function runFakeGh(path: string, words: readonly string[], input = ''): FakeAnswer {
  return withState(path, (state) => {
    state.log.push([...words]);
    state.ticks += 1;
    try {
      const trouble = takeTrouble(state, words);
      if (trouble !== null && trouble !== 'lost-answer' && trouble !== 'garbage') throw complaints[trouble];
      const stdout = runCommand(state, words, input);
      if (trouble === 'lost-answer') throw complaints.offline;
      return { exitCode: 0, stdout: trouble === 'garbage' ? '{"data": [' : stdout, stderr: '' };
    } catch (error) {
      if (!(error instanceof Complaint)) throw error;
      const stderr = error.message === '' ? '' : `${error.message}\n`;
      return { exitCode: error.exitCode, stdout: error.stdout, stderr };
    }
  });
}

function runCommand(state: FakeState, words: readonly string[], input: string): string {
  const name = words[0] === 'api' ? 'api' : words.slice(0, 2).join(' ');
  const command = commands[name];
  if (command === undefined) throw usage(`unknown command "${words[0] ?? ''}" for "gh"`, '<command> <subcommand>');
  const repo: FlagTable = command.takesRepo ? { 'repo,R': 'text' } : {};
  const flags = readFlags(name, { ...command.flags, ...repo }, words.slice(name.split(' ').length));
  const { least, most, complaint } = command.words;
  if (flags.words.length < least || flags.words.length > most) throw usage(complaint, name);
  checkFields(flags.list('json'), command.fields ?? []);
  const named = command.takesRepo ? flags.text('repo') : name === 'repo view' ? flags.words[0] : undefined;
  if (command.takesRepo && named === undefined) {
    throw new Complaint("failed to run git: fatal: not a git repository: '/dev/null'\n");
  }
  if (named !== undefined) mustKnow(state, named);
  return command.run({ state, flags, input });
}

/** `owner/name` is a repository of the usual host. */
function mustKnow(state: FakeState, named: string): void {
  const parts = named.split('/');
  if (parts.length < 2 || parts.length > 3) {
    throw new Complaint(`expected the "[HOST/]OWNER/REPO" format, got "${named}"`);
  }
  const [name, owner, host = 'github.com'] = parts.toReversed();
  if (host !== state.host)
    throw new Complaint(`error connecting to ${host}\ncheck your internet connection or https://githubstatus.com`);
  if (owner === state.owner && name === state.name) return;
  throw new Complaint(`GraphQL: Could not resolve to a Repository with the name '${owner}/${name}'. (repository)`);
}

function takeTrouble(state: FakeState, words: readonly string[]): FakeTrouble['kind'] | null {
  const { trouble } = state;
  if (trouble === null || !words.join(' ').startsWith(trouble.command)) return null;
  trouble.times -= 1;
  if (trouble.times <= 0) state.trouble = null;
  return trouble.kind;
}

const complaints = {
  auth: new Complaint(
    'To get started with GitHub CLI, please run:  gh auth login\n' +
      'Alternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.',
    4,
  ),
  'bad-credentials': new Complaint(
    'HTTP 401: Bad credentials (https://api.github.com/graphql)\nTry authenticating with:  gh auth login',
  ),
  'rate-limit': new Complaint('GraphQL: API rate limit exceeded for user ID 583231.'),
  offline: new Complaint(
    'error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com',
  ),
  forbidden: new Complaint('GraphQL: Resource not accessible by personal access token (mergePullRequest)'),
};
