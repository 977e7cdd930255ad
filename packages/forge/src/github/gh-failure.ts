import type { ErrorCode } from '@pawl/schema/error';
import { PawlError } from '@pawl/schema/error';
import { forgeLimits } from '../forge-limit.ts';
import type { GhOutput } from './gh.ts';

type Known = { pattern: RegExp; code: ErrorCode; message: string; hint: string };

/** Common failures, in the words of `gh` and GitHub. The first match counts. */
const known: Known[] = [
  {
    pattern: /gh auth login|HTTP 401|Bad credentials|authentication token/i,
    code: 'unauthorized',
    message: 'gh is not logged in.',
    hint: 'Run `gh auth login`, or give the daemon a GH_TOKEN, and restart it.',
  },
  {
    pattern: /rate limit|abuse detection|submitted too quickly|HTTP 429/i,
    code: 'unavailable',
    message: 'GitHub’s rate limit is used up.',
    hint: 'It is tried again later; see `gh api rate_limit`.',
  },
  {
    pattern: /Could not resolve to a Repository|HTTP 404/i,
    code: 'not_found',
    message: 'GitHub knows no such repository, or does not show it to you.',
    hint: 'See `git remote -v` and `gh auth status`.',
  },
  {
    pattern: /Could not resolve to a PullRequest|no pull requests found/i,
    code: 'not_found',
    message: 'GitHub knows no such pull request.',
    hint: 'See `gh pr list --state all`.',
  },
  {
    pattern: /correct permissions|not accessible by|must have (?:push|write|admin)|SAML|needs the ".*" scope|HTTP 403/i,
    code: 'forbidden',
    message: 'GitHub does not let you do that.',
    hint: 'See `gh auth status`; the login needs the `repo` scope, and you need write access to the repository.',
  },
  {
    pattern: /unknown (?:flag|command|shorthand)|Unknown JSON field/i,
    code: 'unavailable',
    message: 'This gh is too old.',
    hint: 'Install gh 2.23 or newer from https://cli.github.com.',
  },
  {
    pattern: /error connecting|internet connection|timeout|connection (?:refused|reset)|HTTP 5\d\d|EOF/i,
    code: 'unavailable',
    message: 'GitHub cannot be reached.',
    hint: 'Check the network, and https://githubstatus.com; it is tried again.',
  },
];

/** Explains a failed command. */
export function ghFailed(words: readonly string[], { exitCode, stderr }: GhOutput): PawlError {
  const command = `gh ${words.slice(0, 2).join(' ')}`;
  const complaint = complaintOf(stderr);
  const found = exitCode === 4 ? known[0] : known.find(({ pattern }) => pattern.test(complaint));
  const details = { command, exitCode, complaint };
  if (found !== undefined) {
    const said = complaint.split('\n')[0] ?? '';
    return new PawlError(found.code, `${found.message} (${said})`, { hint: found.hint, details });
  }
  return new PawlError('conflict', `${command} failed: ${complaint === '' ? `exit code ${exitCode}` : complaint}`, {
    hint: 'Run the same command by hand to see more.',
    details,
  });
}

/** A command's stderr for display: without control characters, and bounded. */
export function complaintOf(stderr: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = stderr.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ').trim();
  return clean.slice(0, forgeLimits.complaintCharacters);
}
