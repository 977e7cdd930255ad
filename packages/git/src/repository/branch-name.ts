import { PawlError } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';

/**
 * Validates a branch name from outside, by git's rules. Such a name goes to git only as part of a full ref, into a path
 * only below `refs/heads`, never to a shell, and to a screen as printable text.
 */
export function checkBranchName(name: string): string {
  const complaint = complaintAbout(name);
  if (complaint === null) return name;
  throw new PawlError('invalid_input', `The branch name ${JSON.stringify(name.slice(0, 80))} ${complaint}.`, {
    hint: 'Git refuses it as well, see `git check-ref-format`. Choose another, for example work/calm-otter.',
  });
}

export function isBranchName(name: string): boolean {
  return complaintAbout(name) === null;
}

/** Validates a remote name as part of a ref, a path and a command line. */
export function checkRemoteName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(name) && complaintAbout(name) === null) return name;
  throw new PawlError('invalid_input', `The name of the remote ${JSON.stringify(name.slice(0, 80))} cannot be used.`, {
    hint: 'Rename it with letters, digits and . _ - /: git remote rename OLD NEW',
  });
}

/** Why `git check-ref-format --branch` would reject a name, or null. */
function complaintAbout(name: string): string | null {
  // oxlint-disable-next-line no-control-regex -- git refuses control characters
  if (!name.isWellFormed() || /[\u0000-\u0020\u007F~^:?*[\\]/.test(name))
    return 'has a space, a control character or one of ~ ^ : ? * [ \\';
  if (Buffer.byteLength(name) > gitLimits.branchBytes) return `is longer than ${gitLimits.branchBytes} bytes`;
  if (name.startsWith('-')) return 'begins with "-"';
  if (name.includes('..') || name.includes('//') || name.includes('@{')) return 'contains "..", "//" or "@{"';
  if (name === 'HEAD' || name === '@') return 'is reserved by git';
  if (name.endsWith('.')) return 'ends in "."';
  for (const part of name.split('/')) {
    if (part === '') return 'is empty, or begins or ends with "/"';
    if (part.startsWith('.')) return 'has a part that starts with "."';
    if (part.endsWith('.lock')) return 'has a part that ends in ".lock"';
  }
  return null;
}
