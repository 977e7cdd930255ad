import type { ChangeAccess } from '@pawl/core/changes/change-rights';
import { changeRoutes } from '@pawl/protocol/changes/routes';

/** Agents' access to each verb on a change. A repair is a merge that only people request. */
export const changeAccess: ChangeAccess = {
  comment: changeRoutes.commentChange.access,
  block: changeRoutes.blockChange.access,
  unblock: changeRoutes.unblockChange.access,
  close: changeRoutes.closeChange.access,
  retry: changeRoutes.retryChange.access,
  merge: changeRoutes.mergeChange.access,
  repair: changeRoutes.mergeChange.access,
};
