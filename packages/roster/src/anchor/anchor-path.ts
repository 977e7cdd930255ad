import { rosterLimits } from '../roster-limit.ts';

/** Where the anchors of a project are kept: Pawl's own place, or the older one where that is in use. */
export type Layout = { directory: '.pawl' | '.ai'; extension: 'md' | 'org' };

export const ownLayout: Layout = { directory: '.pawl', extension: 'md' };
export const olderLayout: Layout = { directory: '.ai', extension: 'org' };

/** The anchor of the one agent of a project that needs no id. */
export function singleton({ directory, extension }: Layout): string {
  return `${directory}/session-context.${extension}`;
}

/** Where those have their anchors who have an id. */
export function anchorDirectory({ directory }: Layout): string {
  return `${directory}/session-context.d`;
}

/**
 * The file with a session's notes, relative to the project: the singleton without an id, else one of its own. The same
 * words give the same path every time, and no id is ever made here.
 */
export function anchorPath(layout: Layout, id: string | null): string {
  return id === null ? singleton(layout) : `${anchorDirectory(layout)}/${safeId(id)}.${layout.extension}`;
}

/** An id as a part of a file's name: what is not of the alphabet becomes `_`. */
export function safeId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, rosterLimits.idCharacters);
}

/** What the environment says that this session is called; null when it says nothing. */
export function idIn(environment: NodeJS.ProcessEnv): string | null {
  return environment['PAWL_AGENT_ID'] || environment['AI_AGENT_ID'] || null;
}

/** True when the environment says that this session is a helper, by word or by the kind of its id. */
export function isHelper(environment: NodeJS.ProcessEnv): boolean {
  const word = environment['PAWL_HELPER'] ?? environment['AI_HELPER'];
  return word === '1' || (idIn(environment)?.startsWith('helper-') ?? false);
}
