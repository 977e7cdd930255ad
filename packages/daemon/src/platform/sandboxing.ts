import type { Machine } from '@pawl/sandbox/bubblewrap';
import type { Confinement } from '@pawl/protocol/agents/verb-view';
import { bubblewrap } from '@pawl/sandbox/bubblewrap';
import type { Sandbox } from '@pawl/sandbox/probe';
import { probeSandbox } from '@pawl/sandbox/probe';
import { PawlError } from '@pawl/schema/error';
import type { ChangeLaunch, SandboxLimits } from '@pawl/schema/launch-spec';
import type { Choices } from './platform.ts';

/** What holds where a sandbox is missing and none is required. */
export const withoutSandbox = 'Until then agents ask before they act, unless you state `--access full`.';

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
  /** The same for a person to read. */
  confinement(choices: Pick<Choices, 'sandbox'>): Promise<Confinement>;
  /** Whether the next session reaches every host, or only listed ones. */
  network(choices: Pick<Choices, 'sandbox' | 'network'>): Promise<'open' | 'listed'>;
  /** Confines launches that ask for it. */
  confine: ChangeLaunch;
};

export function createSandboxing(
  environment: NodeJS.ProcessEnv,
  probeMachine: typeof probeSandbox = probeSandbox,
): Sandboxing {
  let probing: Promise<Sandbox> | null = null;
  let found: Sandbox | null = null;
  const probe = () => (probing ??= probeMachine(environment).then((sandbox) => (found = sandbox)));
  async function confinement({ sandbox: { mode } }: Pick<Choices, 'sandbox'>): Promise<Confinement> {
    if (mode === 'off') return { sandbox: 'off' };
    const sandbox = await probe();
    if (sandbox.works) return { sandbox: 'on' };
    if (mode === 'auto')
      return { sandbox: 'missing', reason: sandbox.reason, hint: `${sandbox.hint} ${withoutSandbox}` };
    // Only a new daemon looks for it again, so this does not pass by itself.
    throw new PawlError('conflict', `A sandbox is required, and there is none. ${sandbox.reason}`, {
      hint: sandbox.hint,
    });
  }
  return {
    probe,
    confinement,
    async machine(choices) {
      const { sandbox } = await confinement(choices);
      return sandbox === 'on' && found?.works === true ? found.machine : null;
    },
    async network(choices) {
      if (choices.network !== 'auto') return choices.network;
      return (await confinement(choices)).sandbox === 'on' ? 'listed' : 'open';
    },
    confine(launch) {
      if (launch.sandbox === null) return launch;
      if (found?.works !== true) throw new PawlError('internal', 'A sandbox was asked for before it was probed.');
      return bubblewrap(found.machine)(launch);
    },
  };
}
