import { PawlError } from '@pawl/schema/error';
import { gitLimits } from './limit.ts';

/** Returns the name when it is safe as a branch, a path and a command-line word; a name from outside must pass here. */
export function checkBranchName(name: string): string {
  const complaint = complaintAbout(name);
  if (complaint === null) return name;
  throw new PawlError('invalid_input', `The branch name ${JSON.stringify(name.slice(0, 80))} ${complaint}.`, {
    hint: 'Use letters, digits and . _ - /, starting with a letter or digit, for example work/calm-otter.',
  });
}

function complaintAbout(name: string): string | null {
  if (!/^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(name)) return 'has characters outside A-Z a-z 0-9 . _ - /';
  if (name.length > gitLimits.branchBytes) return `is longer than ${gitLimits.branchBytes} bytes`;
  if (name.includes('..') || name.includes('//')) return 'contains ".." or "//"';
  if (name === 'HEAD') return 'is reserved by git';
  for (const part of name.split('/')) {
    if (part === '') return 'ends in "/"';
    if (part.startsWith('.') || part.endsWith('.')) return 'has a part that starts or ends in "."';
    if (part.toLowerCase().endsWith('.lock')) return 'has a part that ends in ".lock"';
  }
  return null;
}
