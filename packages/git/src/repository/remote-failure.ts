import { PawlError } from '@pawl/schema/error';
import { complaintOf } from '../command/git-failure.ts';
import { withoutSecret } from './remote-url.ts';

const denied =
  /denied|declined|protected branch|not permitted|not allowed|Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Host key verification failed|\b40[13]\b/i;

/** Explains that a remote gave no answer; passes other failures on. */
export function unreachable(url: string, error: unknown): unknown {
  const complaint = complaintOf(error);
  if (complaint === '') return error;
  const shown = withoutSecret(url);
  const words = lastWords(complaint);
  if (denied.test(complaint)) {
    return new PawlError('forbidden', `${shown} denied access: ${words}`, {
      hint: `Pawl cannot ask for a password. Make \`git ls-remote ${shown}\` work without one: with an ssh agent or a credential helper in your own git config.`,
      cause: error,
    });
  }
  return new PawlError('unavailable', `${shown} cannot be reached: ${words}`, {
    hint: `Try \`git ls-remote ${shown}\`.`,
    cause: error,
  });
}

/** Explains a push that the remote rejected although its branch had not moved. */
export function pushRefused(url: string, branch: string, output: string, error: PawlError): unknown {
  const words = saidBy(complaintOf(error)) || /^!\t.*\t(.*)$/m.exec(output)?.[1] || lastWords(complaintOf(error));
  const isRefusal = /\[(?:remote )?rejected\]/.test(output) || denied.test(output);
  if (!isRefusal) return unreachable(url, error);
  return new PawlError('forbidden', `${withoutSecret(url)} rejects a push to ${branch}: ${words}`, {
    hint: `Its hooks or rules reject it. Allow it there, or merge through the forge (\`forge: github\`).`,
    cause: error,
  });
}

/** Lines that the remote itself printed. */
function saidBy(complaint: string): string {
  return complaint
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length).trim())
    .filter((line) => line !== '')
    .join(' ')
    .slice(0, 500);
}

function lastWords(complaint: string): string {
  const lines = complaint.split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => /^(?:fatal|error|ssh): /.test(line)) ?? lines.at(-1) ?? 'it says nothing';
}
