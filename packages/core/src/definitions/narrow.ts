import type { Definition } from '@pawl/schema/definition';
import type { DefinitionFile, Notice, StatedField } from './definition-file.ts';
import { isWider } from './access.ts';
import { intersectTools, isCovered } from './gate.ts';

type Extended = { definition: Definition; notices: Notice[] };

/**
 * Extends a definition by a later file. Appends the prompt and replaces plain metadata. Only a file that may widen
 * replaces rights; any other can only remove rights, and gets a notice for each request it was denied.
 */
export function extend(base: Definition, file: DefinitionFile, mayWiden: boolean): Extended {
  const { definition: wanted, stated } = file;
  const choose = <Name extends keyof Definition & StatedField>(name: Name): Definition[Name] =>
    stated[name] === undefined ? base[name] : wanted[name];
  const plain: Definition = {
    ...base,
    name: choose('name'),
    description: choose('description'),
    class: choose('class'),
    role: choose('role'),
    model: choose('model'),
    mode: choose('mode'),
    interaction: choose('interaction'),
    nudge: choose('nudge'),
    mail: choose('mail'),
    notify: choose('notify'),
    hears: choose('hears'),
    prompt: [base.prompt, wanted.prompt].filter((text) => text !== '').join('\n\n'),
    sources: [...base.sources, ...wanted.sources],
  };
  const { definition, notices } = mayWiden
    ? { definition: replaceRights(plain, file, choose), notices: [] }
    : narrowRights(plain, file);
  // A main that becomes a subagent also becomes ephemeral, unless the file says otherwise.
  const became = definition.kind === 'subagent' && base.kind === 'main' && stated.class === undefined;
  return { definition: became ? { ...definition, class: 'ephemeral' } : definition, notices };
}

function replaceRights(
  plain: Definition,
  { definition: wanted, stated }: DefinitionFile,
  choose: <Name extends keyof Definition & StatedField>(name: Name) => Definition[Name],
): Definition {
  const isStated = (name: StatedField) => stated[name] !== undefined;
  return {
    ...plain,
    kind: choose('kind'),
    provider: choose('provider'),
    tools: choose('tools'),
    deniedTools: choose('deniedTools'),
    toolGate: choose('toolGate'),
    access: choose('access'),
    workGlobs: choose('workGlobs'),
    lockGlobs: choose('lockGlobs'),
    policy: {
      allow: (isStated('policy.allow') ? wanted : plain).policy.allow,
      delegateTargets: (isStated('policy.delegateTargets') ? wanted : plain).policy.delegateTargets,
    },
  };
}

function narrowRights(base: Definition, file: DefinitionFile): Extended {
  const { definition: wanted, stated } = file;
  const notices: Notice[] = [];
  const refuse = (field: StatedField, what: string) => notices.push(needsTrust(file, field, what));
  const definition: Definition = { ...base };

  if (stated.kind !== undefined) {
    if (wanted.kind === 'subagent') definition.kind = 'subagent';
    else if (base.kind === 'subagent') refuse('kind', 'to be a main');
  }
  if (stated.provider !== undefined && wanted.provider !== base.provider) {
    refuse('provider', `the provider ${wanted.provider}`);
  }
  if (stated.toolGate !== undefined) {
    if (wanted.toolGate === 'hard') definition.toolGate = 'hard';
    else if (base.toolGate === 'hard') refuse('toolGate', 'an advisory tool gate');
  }
  if (stated.access !== undefined && wanted.access !== null) {
    if (isWider(wanted.access, base.access ?? 'ask')) refuse('access', `the access ${wanted.access}`);
    else definition.access = wanted.access;
  }
  if (stated.tools !== undefined) {
    definition.tools = intersectTools(base.tools, wanted.tools);
    const more = wanted.tools.filter((entry) => !isCovered(base.tools, entry));
    // Asking for `*` is the plain way to ask for whatever the base has.
    if (more.length > 0) refuse('tools', more.includes('*') ? 'all tools' : `the tools ${more.join(', ')}`);
  }
  if (stated.deniedTools !== undefined) {
    definition.deniedTools = [...new Set([...base.deniedTools, ...wanted.deniedTools])];
  }
  if (stated.workGlobs !== undefined) definition.workGlobs = narrowGlobs(base, wanted, refuse);
  // A lock binds other agents, so a file of the repository adds none by itself.
  if (stated.lockGlobs !== undefined) definition.lockGlobs = narrowLocks(base, wanted, refuse);
  definition.policy = narrowPolicy(base, file, refuse);
  return { definition, notices };
}

type Refuse = (field: StatedField, what: string) => void;

/** Empty globs mean everywhere, so a list without overlap keeps the base's globs. */
function narrowGlobs(base: Definition, wanted: Definition, refuse: Refuse): string[] {
  if (base.workGlobs.length === 0) return wanted.workGlobs;
  const common = wanted.workGlobs.filter((glob) => base.workGlobs.includes(glob));
  const more = wanted.workGlobs.filter((glob) => !common.includes(glob));
  if (wanted.workGlobs.length === 0) refuse('workGlobs', 'to write everywhere');
  else if (more.length > 0) refuse('workGlobs', `to write to ${more.join(', ')}`);
  return common.length === 0 ? base.workGlobs : common;
}

function narrowLocks(base: Definition, wanted: Definition, refuse: Refuse): string[] {
  const more = wanted.lockGlobs.filter((glob) => !base.lockGlobs.includes(glob));
  if (more.length > 0) refuse('lockGlobs', `to lock ${more.join(', ')}`);
  return wanted.lockGlobs.filter((glob) => base.lockGlobs.includes(glob));
}

/** Empty targets mean any, so when no target is left, Delegate goes, too. */
function narrowPolicy(base: Definition, { definition, stated }: DefinitionFile, refuse: Refuse): Definition['policy'] {
  const { allow, delegateTargets } = { ...base.policy };
  const wanted = definition.policy;
  const policy = { allow, delegateTargets };
  if (stated['policy.allow'] !== undefined) {
    policy.allow = allow.filter((action) => wanted.allow.includes(action));
    const more = wanted.allow.filter((action) => !allow.includes(action));
    if (more.length > 0) refuse('policy.allow', `the policy ${more.join(', ')}`);
  }
  if (stated['policy.delegateTargets'] === undefined) return policy;
  if (delegateTargets.length === 0) return { ...policy, delegateTargets: wanted.delegateTargets };
  if (wanted.delegateTargets.length === 0) {
    refuse('policy.delegateTargets', 'to delegate to any agent');
    return policy;
  }
  const common = delegateTargets.filter((target) => wanted.delegateTargets.includes(target));
  const more = wanted.delegateTargets.filter((target) => !delegateTargets.includes(target));
  if (more.length > 0) refuse('policy.delegateTargets', `to delegate to ${more.join(', ')}`);
  if (common.length > 0) return { ...policy, delegateTargets: common };
  return { allow: policy.allow.filter((action) => action !== 'Delegate'), delegateTargets };
}

function needsTrust({ path, definition: { id }, stated }: DefinitionFile, field: StatedField, what: string): Notice {
  return {
    about: 'needs-trust',
    path,
    line: stated[field] ?? 1,
    reason: `wants ${what}, which ${id} does not have without it; read the file and run \`pawl trust\` to allow it`,
    id,
  };
}
