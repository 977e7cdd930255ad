import { isAlive } from '@pawl/host/process/identity';
import type { Supervised } from '@pawl/host/supervise/supervise';
import { supervise } from '@pawl/host/supervise/supervise';
import { crashPoint } from '@pawl/schema/crash-point';
import type { Agent, Session } from '@pawl/schema/record';
import { updateSession } from '@pawl/store/sessions/sessions';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { identityOf, sessionDirectory } from '../../platform/platform.ts';
import { readSessionRecord } from '../../platform/session-record.ts';

/** The process of a session, whose facts are in the session's row. */
export function processOf(platform: SessionPlatform, agent: Agent, session: Session): Supervised {
  return supervise(platform.host, {
    marker: session.id,
    directory: sessionDirectory(platform.home, session.id),
    identity: identityOf(session),
    async recordStart({ pid, start }) {
      crashPoint('spawn.after_process');
      const record = readSessionRecord(sessionDirectory(platform.home, session.id));
      const sandbox = record === null ? null : record.sandboxed ? 'on' : 'off';
      await platform.store.write(async (tx) => {
        await updateSession(tx, session.id, { startedAt: tx.now, pid, processStart: start, sandbox });
        tx.emit({
          type: 'session.started',
          projectId: agent.projectId,
          agentId: agent.id,
          data: { no: session.no, pid },
        });
      });
      crashPoint('spawn.after_pid');
    },
  });
}

/** True while exactly the process on record for a session runs. */
export function isRunning(session: Session): boolean {
  const identity = identityOf(session);
  return identity !== null && isAlive(identity);
}
