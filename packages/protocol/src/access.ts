import type { Access, Invariant, Needs } from '@pawl/schema/access';

const nothing: Needs = { actions: [] };
export const patch: Needs = { actions: [['Patch']] };
export const finalize: Needs = { actions: [['Finalize']] };
export const delegate: Needs = { actions: [['Delegate']] };
export const approve: Needs = { actions: [['Approve']] };
/** An author may withdraw or block its own proposal; settling changes does not require the right to propose. */
export const patchOrFinalize: Needs = { actions: [['Patch', 'Finalize']] };
/** Needs no action, but a definition that hears of emergencies. */
export const hearsEmergency: Needs = { actions: [], hears: 'emergency' };

/** Reserves a route for people. */
export const forPeople = (does: string, row: string): Access => ({ does, agents: 'none', needs: nothing, row });

/** Opens a route to all agents; its handler decides whose data they may use. */
export const forAgents = (does: string, row: string): Access => ({ does, agents: 'any', needs: nothing, row });

/** Opens a route to main agents whose definitions meet the needs. */
export const forMains = (invariant: Invariant, does: string, row: string, needs = nothing): Access => ({
  does,
  agents: 'main',
  invariant,
  needs,
  row,
});
