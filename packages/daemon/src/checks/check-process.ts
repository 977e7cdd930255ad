import type { Supervised } from '@pawl/host/supervise/supervise';
import { supervise } from '@pawl/host/supervise/supervise';
import type { ProcessIdentity } from '@pawl/host/process/identity';
import type { Check } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import type { CheckContext } from './check-context.ts';
import { note } from './check-context.ts';

/** The process of the step that a check is at, whose facts are in the check's row. */
export function processOf(context: CheckContext, check: Check): Supervised {
  return supervise(context.platform.host, {
    marker: check.id,
    directory: context.place.step(check.step),
    identity: identityOf(check),
    async recordStart({ pid, start }) {
      crashPoint('check.after_process');
      await note(context, check, () => ({ pid, processStart: start }));
    },
  });
}

export function identityOf({ pid, processStart }: Check): ProcessIdentity | null {
  return pid === null || processStart === null ? null : { pid, start: processStart };
}
