import { resolve } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';

const schemes = ['file', 'git', 'http', 'https', 'ssh', 'git+ssh', 'ssh+git'];

/**
 * Validates a remote URL and makes it independent of the working directory; a path is relative to `root`. Refuses URLs
 * that name a program (`ext::`), or that look like an option.
 */
export function checkRemoteUrl(url: string, root: string): string {
  const refuse = (why: string) => {
    throw new PawlError('invalid_input', `The address ${JSON.stringify(withoutSecret(url).slice(0, 200))} ${why}.`, {
      hint: 'Use a path, or an address that begins with https://, ssh:// or file://, or is like git@host:path.',
    });
  };
  // oxlint-disable-next-line no-control-regex
  if (url === '' || url.length > gitLimits.urlCharacters || /[\u0000-\u001f\u007f]/.test(url)) {
    refuse('is empty, too long, or has control characters');
  }
  if (url.startsWith('-')) refuse('begins with "-"');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/.exec(url);
  if (scheme !== null) {
    if (!schemes.includes(scheme[1] ?? '')) refuse('has a scheme that is not allowed');
    if (/^(?:[^/]*@)?-/.test(scheme[2] ?? '')) refuse('has a host that begins with "-"');
    return url;
  }
  if (/^[^/]*::/.test(url)) refuse('names a program');
  const host = /^([^/:]+):/.exec(url)?.[1];
  if (host === undefined) return resolve(root, url);
  if (/(?:^|@)-/.test(host)) refuse('has a host that begins with "-"');
  return url;
}

/** The URL without password or token, for display. */
export function withoutSecret(url: string): string {
  return url.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1');
}
