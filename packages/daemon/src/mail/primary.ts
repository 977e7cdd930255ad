import { startOrder } from '@pawl/host/process/process-table';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { livingAdopted } from '@pawl/store/agents/adopted';
import type { Database } from '@pawl/store/tables';

/** The primary of the checkout that an agent shares: the oldest adopted agent there. */
export async function primaryFor(db: Database, caller: Agent): Promise<Agent> {
  const others = (await livingAdopted(db)).filter(
    ({ id, projectId }) => projectId === caller.projectId && id !== caller.id,
  );
  const [eldest] = others.toSorted(
    (a, b) => startOrder(a.adopted.start) - startOrder(b.adopted.start) || a.adopted.pid - b.adopted.pid,
  );
  if (eldest !== undefined) return eldest;
  throw new PawlError('not_found', 'No other agent works in this checkout, so there is no primary.', {
    hint: 'See `pawl roster`. If you are alone, its duties are yours.',
  });
}
