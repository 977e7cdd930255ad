import type { Machine } from '@pawl/sandbox/bubblewrap';
import { bubblewrap } from '@pawl/sandbox/bubblewrap';
import type { Sandbox } from '@pawl/sandbox/probe';
import { probeSandbox } from '@pawl/sandbox/probe';
import { PawlError } from '@pawl/schema/error';
import type { ChangeLaunch, SandboxLimits } from '@pawl/schema/launch-spec';
import type { Choices } from './platform.ts';

/** Whether sessions and checks run in a sandbox, and what it shows and allows beyond the usual. */
export type SandboxChoices = {
  /** `auto` uses a sandbox where there is one, `required` starts nothing without one. */
  mode: 'auto' | 'off' | 'required';
  /** Further directories that it shows, or lets agents write to. */
  readable: readonly string[];
  writable: readonly string[];
  limits: SandboxLimits;
};

/** The sandbox of one daemon. The machine is probed once, when it is first needed. */
export type Sandboxing = {
  probe(): Promise<Sandbox>;
  /** The machine, if the next launch is to be confined; null without a sandbox. Throws if one is required and missing. */
  machine(choices: Pick<Choices, 'sandbox'>): Promise<Machine | null>;
  /** Confines launches that ask for it. */
  confine: ChangeLaunch;
};

export function createSandboxing(environment: NodeJS.ProcessEnv): Sandboxing {
  let probing: Promise<Sandbox> | null = null;
  let found: Sandbox | null = null;
  const probe = () => (probing ??= probeSandbox(environment).then((sandbox) => (found = sandbox)));
  return {
    probe,
    async machine({ sandbox: { mode } }) {
      if (mode === 'off') return null;
      const sandbox = await probe();
      if (sandbox.works) return sandbox.machine;
      if (mode === 'auto') return null;
      throw new PawlError('unavailable', `A sandbox is required, and there is none. ${sandbox.reason}`, {
        hint: sandbox.hint,
      });
    },
    confine(launch) {
      if (launch.sandbox === null) return launch;
      if (found?.works !== true) throw new PawlError('internal', 'A sandbox was asked for before it was probed.');
      return bubblewrap(found.machine)(launch);
    },
  };
}
