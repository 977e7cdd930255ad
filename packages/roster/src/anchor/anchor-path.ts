import { rosterLimits } from '../roster-limit.ts';

/** The directory of a project's anchors: Pawl's own, or the older one if that is in use. */
export type Layout = { directory: '.pawl' | '.ai'; extension: 'md' | 'org' };

export const ownLayout: Layout = { directory: '.pawl', extension: 'md' };
export const olderLayout: Layout = { directory: '.ai', extension: 'org' };

/** The anchor of the session without an id. */
export function singleton({ directory, extension }: Layout): string {
  return `${directory}/session-context.${extension}`;
}

/** The directory of anchors of sessions with an id. */
export function anchorDirectory({ directory }: Layout): string {
  return `${directory}/session-context.d`;
}

/**
 * The anchor file of a session, relative to the project: the singleton without an id, else its own. Deterministic;
 * makes no ids.
 */
export function anchorPath(layout: Layout, id: string | null): string {
  return id === null ? singleton(layout) : `${anchorDirectory(layout)}/${safeId(id)}.${layout.extension}`;
}

/** An id as part of a file name: replaces other characters by `_`. */
export function safeId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, rosterLimits.idCharacters);
}

/** The session's id in the environment, or null. */
export function idIn(environment: NodeJS.ProcessEnv): string | null {
  return environment['PAWL_AGENT_ID'] || environment['AI_AGENT_ID'] || null;
}

/** True if the environment marks this session as a helper, by variable or by its id. */
export function isHelper(environment: NodeJS.ProcessEnv): boolean {
  const word = environment['PAWL_HELPER'] ?? environment['AI_HELPER'];
  return word === '1' || (idIn(environment)?.startsWith('helper-') ?? false);
}
