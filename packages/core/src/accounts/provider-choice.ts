import { PawlError } from '@pawl/schema/error';

/** The provider fields that a choice needs. */
export type Choosable = { name: string; install: string | null };

/** Suggested when no coding agent is installed. */
const suggested = ['claude', 'codex', 'gemini'];

/**
 * The first name in order of precedence: the request's, the definition's, the asking agent's, the project's, the home's.
 * Null when no provider is configured.
 */
export function namedProvider(names: readonly (string | null | undefined)[]): string | null {
  return names.find((name) => name !== undefined && name !== null) ?? null;
}

/** Picks the only installed coding agent. With several or none, refuses and says how to choose or install one. */
export function onlyInstalled(installed: readonly Choosable[], known: readonly Choosable[]): string {
  const [first, ...others] = installed;
  if (first === undefined) throw noneInstalled(known);
  if (others.length === 0) return first.name;
  const names = installed.map(({ name }) => name);
  throw new PawlError('no_provider', `Several coding agents are installed, and none was chosen: ${names.join(', ')}.`, {
    hint:
      `Choose one with --provider ${first.name}; for this project: pawl init --provider ${first.name}; ` +
      `for all projects: pawl config set provider ${first.name}`,
    details: { installed: names },
  });
}

function noneInstalled(known: readonly Choosable[]): PawlError {
  const ways = suggested.flatMap((name) => {
    const install = known.find((each) => each.name === name)?.install ?? null;
    return install === null ? [] : [`${install} (${name})`];
  });
  return new PawlError('no_provider', 'No coding agent is installed on your PATH.', {
    hint:
      `Install one: ${ways.join(', or ')}. \`pawl providers\` lists all. ` +
      'To try Pawl without one: --provider scripted, a stand-in that plays a script and is not an AI.',
    details: { installed: [] },
  });
}
