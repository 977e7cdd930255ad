import type { Access } from '@pawl/schema/access';
import type { Definition } from '@pawl/schema/definition';
import type { DefinitionFile, Layer, StatedField } from '../../src/definitions/definition-file.ts';
import type { ReadYaml } from '../../src/definitions/front-matter.ts';

/** A plain main, with overrides. */
export function aDefinition(given: Partial<Definition> = {}): Definition {
  return {
    id: 'builder',
    name: 'builder',
    description: '',
    kind: 'main',
    class: 'persistent',
    role: null,
    provider: null,
    model: null,
    mode: null,
    interaction: null,
    tools: ['Read', 'Glob', 'Grep'],
    deniedTools: [],
    toolGate: 'hard',
    access: null,
    policy: { allow: [], delegateTargets: [] },
    workGlobs: [],
    lockGlobs: [],
    nudge: null,
    mail: 'wake',
    notify: ['parent'],
    hears: [],
    prompt: '',
    sources: [],
    ...given,
  };
}

/** The access of a route that starts agents. */
export const workAccess: Access = {
  does: 'start another agent',
  agents: 'main',
  invariant: 'spawn',
  needs: { actions: [['Delegate']] },
  row: '',
};

/** A file that states exactly the given fields, one per line from line 2 on. */
export function aFile(layer: Layer, given: Partial<Definition>, path = `/${layer}/builder.md`): DefinitionFile {
  const names = Object.keys(given).filter((name) => !['id', 'prompt', 'sources'].includes(name));
  const fields = names.flatMap((name) => (name === 'policy' ? ['policy.allow', 'policy.delegateTargets'] : [name]));
  return {
    layer,
    path,
    sha256: `sha of ${path}`,
    definition: aDefinition({ sources: [{ layer, path }], ...given }),
    stated: Object.fromEntries(fields.map((name, index) => [name as StatedField, index + 2])),
    notices: [],
  };
}

/** Parses front matter in which every line is a name, a colon and JSON; stands in for YAML. */
export const readLines: ReadYaml = (text) => {
  const fields = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, json] = /^(\w+):(.*)$/.exec(line) ?? [];
    try {
      if (name === undefined) throw new SyntaxError('no field');
      fields.push({ name, line: index + 1, value: json?.trim() ? (JSON.parse(json) as unknown) : null });
    } catch {
      return { ok: false, line: index + 1, reason: 'not a field' };
    }
  }
  return { ok: true, fields };
};
