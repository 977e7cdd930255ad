import { keyProxy } from './0029-key-proxy.ts';
import { foundation } from './early/0001-foundation.ts';
import { processes } from './early/0002-processes.ts';
import { providers } from './early/0003-providers.ts';
import { mail } from './early/0004-mail.ts';
import { ratchet } from './early/0005-ratchet.ts';
import { projectSettings } from './early/0006-project-settings.ts';
import { places } from './early/0007-places.ts';
import { runCause } from './early/0008-run-cause.ts';
import { assignment } from './early/0009-assignment.ts';
import { mergeAsking } from './early/0010-merge-asking.ts';
import { taskFinished } from './early/0011-task-finished.ts';
import { runRecord } from './early/0012-run-record.ts';
import { changeAuthor } from './0013-change-author.ts';
import { inboxFacts } from './0014-inbox-facts.ts';
import { placesOfProject } from './0015-places-of-project.ts';
import { runAssignment } from './0016-run-assignment.ts';
import { daemonState } from './0017-daemon-state.ts';
import { typedFacts } from './0018-typed-facts.ts';
import { agentAccess } from './0019-agent-access.ts';
import { rules } from './0020-rules.ts';
import { proxyOffset } from './0021-proxy-offset.ts';
import { approvals } from './0022-approvals.ts';
import { plan } from './plan/0023-plan.ts';
import { sandboxed } from './0024-sandboxed.ts';
import { interaction } from './runtime/0025-interaction.ts';
import { messageBodies } from './0026-message-bodies.ts';
import { taskDefinition } from './runtime/0027-task-definition.ts';
import { pathLocks } from './runtime/0028-path-locks.ts';
import { webSessions } from './0030-web-sessions.ts';
import { planReview } from './plan/0031-plan-review.ts';
import type { Migration } from './migration.ts';

/** Every migration, oldest first. Append new ones. */
export const allMigrations: readonly Migration[] = [
  foundation,
  processes,
  providers,
  mail,
  ratchet,
  projectSettings,
  places,
  runCause,
  assignment,
  mergeAsking,
  taskFinished,
  runRecord,
  changeAuthor,
  inboxFacts,
  placesOfProject,
  runAssignment,
  daemonState,
  typedFacts,
  agentAccess,
  rules,
  proxyOffset,
  approvals,
  plan,
  sandboxed,
  interaction,
  messageBodies,
  taskDefinition,
  pathLocks,
  keyProxy,
  webSessions,
  planReview,
];
