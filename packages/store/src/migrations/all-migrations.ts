import { foundation } from './0001-foundation.ts';
import { processes } from './0002-processes.ts';
import { providers } from './0003-providers.ts';
import { mail } from './0004-mail.ts';
import { ratchet } from './0005-ratchet.ts';
import { projectSettings } from './0006-project-settings.ts';
import { places } from './0007-places.ts';
import { runCause } from './0008-run-cause.ts';
import { assignment } from './0009-assignment.ts';
import { mergeAsking } from './0010-merge-asking.ts';
import { taskFinished } from './0011-task-finished.ts';
import { runRecord } from './0012-run-record.ts';
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
];
