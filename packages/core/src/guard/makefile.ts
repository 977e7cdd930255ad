import { gateLimits } from './gate-limit.ts';

type Rule = { needs: string[]; recipe: string[] };

/** The parts of a makefile that can be read without running it. */
type Makefile = {
  rules: ReadonlyMap<string, Rule>;
  first: string | null;
  includes: string[];
};

function parseMakefile(text: string): Makefile {
  const variables = new Map([['MAKE', 'make']]);
  const rules = new Map<string, Rule>();
  const includes: string[] = [];
  let first: string | null = null;
  let open: Rule[] = [];
  for (const line of text.replaceAll(/\\\r?\n[\t ]*/g, ' ').split('\n')) {
    const seen = line.slice(0, gateLimits.referenceLineCharacters);
    if (seen.startsWith('\t')) {
      for (const rule of open) rule.recipe.push(expand(seen.trim(), variables));
      continue;
    }
    const [, name, value = ''] = /^(?:export\s+|override\s+)?([\w.-]+)\s*(?:::?:?|\?|\+|!)?=\s*(.*)$/.exec(seen) ?? [];
    const [, included] = /^-?s?include\s+(.+)$/.exec(seen) ?? [];
    const [, targets, rest = ''] = /^([^\s#:=][^#:=]*?)\s*::?(?!=)(.*)$/.exec(seen) ?? [];
    if (name !== undefined) variables.set(name, expand(value.trim(), variables));
    else if (included !== undefined) includes.push(...expand(included, variables).split(/\s+/));
    else if (targets !== undefined) {
      const [needs = '', inline] = expand(rest, variables).split(';');
      open = expand(targets, variables)
        .split(/\s+/)
        .map((target) => {
          const rule = rules.get(target) ?? { needs: [], recipe: [] };
          rule.needs.push(...needs.split(/\s+/));
          if (inline !== undefined) rule.recipe.push(inline.trim());
          rules.set(target, rule);
          if (!target.startsWith('.')) first ??= target;
          return rule;
        });
    }
  }
  return { rules, first, includes };
}

/** Expands variables that the makefile sets; leaves others as they are. */
function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text
    .replaceAll(/\$(?:\(([\w.-]{1,100})\)|\{([\w.-]{1,100})\})/g, (whole, round?: string, curly?: string) => {
      return variables.get(round ?? curly ?? '') ?? whole;
    })
    .slice(0, gateLimits.referenceLineCharacters);
}

/**
 * The commands that make runs for these words, including prerequisites; for the first target if no word is one. Also
 * matches pattern rules (`%`).
 */
export function recipesFor(text: string, words: ReadonlySet<string>): { commands: string[]; includes: string[] } {
  const { rules, first, includes } = parseMakefile(text);
  const named = [...words].filter((word) => rules.has(word));
  const wanted = new Set(named.length > 0 || first === null ? named : [first]);
  const commands: string[] = [];
  // Iterating a set also visits entries added meanwhile.
  for (const target of wanted) {
    const rule = rules.get(target) ?? rules.get(patternFor(target, rules) ?? '');
    for (const need of rule?.needs ?? []) if (need !== '' && need !== '|') wanted.add(need);
    commands.push(...(rule?.recipe ?? []).map((line) => line.replace(/^[@+-]+\s*/, '')));
    if (commands.length >= gateLimits.references) break;
  }
  return { commands: commands.slice(0, gateLimits.references), includes };
}

function patternFor(target: string, rules: ReadonlyMap<string, Rule>): string | null {
  for (const pattern of rules.keys()) {
    const [before = '', after] = pattern.split('%');
    if (after !== undefined && target.startsWith(before) && target.endsWith(after)) return pattern;
  }
  return null;
}
