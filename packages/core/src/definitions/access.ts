import type { AccessLevel } from '@pawl/schema/access-level';
import { accessLevels } from '@pawl/schema/access-level';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';

/** Whether sessions run in a sandbox; false if there is none, `off` if a person has switched it off. */
export type SandboxState = boolean | 'off';

/** The default access of an agent. */
export function defaultAccess(sandboxWorks: SandboxState): AccessLevel {
  return sandboxWorks === false ? 'ask' : 'full';
}

export function isWider(one: AccessLevel, other: AccessLevel): boolean {
  return accessLevels.indexOf(one) > accessLevels.indexOf(other);
}

/** The narrower of two levels; null states nothing. */
export function narrower(one: AccessLevel, other: AccessLevel | null): AccessLevel {
  return other === null || isWider(other, one) ? one : other;
}

/** Everything that has a say in the access of a new agent. */
export type AccessQuestion = {
  /** Named by the request. */
  asked: AccessLevel | undefined;
  definition: Pick<Definition, 'id' | 'access' | 'sources'>;
  /** From the repository's configuration. */
  project: AccessLevel | null;
  /** From the home's configuration. */
  home: AccessLevel | null;
  sandboxWorks: SandboxState;
  parent: Parent;
  byPerson: boolean;
};

type Parent = Pick<Agent, 'alias' | 'access' | 'accessNeeds'>;

/** The access of a new agent, and whether it has it only in a sandbox. */
export type GivenAccess = Pick<Agent, 'access' | 'accessNeeds'>;

/**
 * The access of a new agent: named by the request, the definition, the home or the default, in this order. Files of a
 * repository only narrow. No child is wider than its parent, and an agent cannot widen what the others say; a request
 * for more is an error that names both levels. Full access that no person stated needs a sandbox.
 */
export function chooseAccess(question: AccessQuestion): GivenAccess {
  const { asked, definition, parent, byPerson } = question;
  const usual = question.home ?? defaultAccess(question.sandboxWorks);
  const isForeign = definition.sources.some(({ layer }) => layer === 'repository');
  const stated = isForeign ? narrower(usual, definition.access) : (definition.access ?? usual);
  const settled = narrower(stated, question.project);
  const isStated = question.home !== null || (!isForeign && definition.access !== null);
  const unstated = question.sandboxWorks === true && !isStated ? 'sandbox' : null;
  if (asked === undefined) return given(narrower(parent.access, settled), unstated ?? parent.accessNeeds);
  if (isWider(asked, parent.access)) throw tooWide(asked, `${parent.alias} has ${parent.access}`);
  if (!byPerson && isWider(asked, settled)) throw tooWide(asked, `${definition.id} has ${settled} here`);
  return given(asked, byPerson ? null : (unstated ?? parent.accessNeeds));
}

/** The access of a child that continues its parent's work. */
export function inheritedAccess(asked: AccessLevel | undefined, parent: Parent, byPerson: boolean): GivenAccess {
  if (asked === undefined) return given(parent.access, parent.accessNeeds);
  if (isWider(asked, parent.access)) throw tooWide(asked, `${parent.alias} has ${parent.access}`);
  return given(asked, byPerson ? null : parent.accessNeeds);
}

/** Only full access needs a sandbox: with less, a person decides, or nothing is changed. */
function given(access: AccessLevel, accessNeeds: GivenAccess['accessNeeds']): GivenAccess {
  return { access, accessNeeds: access === 'full' ? accessNeeds : null };
}

function tooWide(asked: AccessLevel, but: string): PawlError {
  return new PawlError('forbidden', `The access ${asked} is wider than allowed: ${but}.`, {
    hint: 'Access may only be narrowed: read-only, then ask, then full. Omit --access to inherit it.',
  });
}
