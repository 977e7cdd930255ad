import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk';

/** Kinds of tools that change nothing. */
const readingKinds = ['read', 'search', 'think', 'fetch'];

/**
 * Answers a permission request. Prefers "once": "always" makes some agents write settings into the repository. Cancels
 * if no option fits.
 */
export function answerPermission(
  options: Pick<PermissionOption, 'kind' | 'optionId'>[],
  kind: string,
  permission: 'full' | 'read-only',
): RequestPermissionResponse {
  const allowed = permission === 'full' || readingKinds.includes(kind);
  const wanted = allowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const option = wanted.flatMap((name) => options.filter((each) => each.kind === name))[0];
  return option === undefined
    ? { outcome: { outcome: 'cancelled' } }
    : { outcome: { outcome: 'selected', optionId: option.optionId } };
}
