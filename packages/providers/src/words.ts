/**
 * Marks a word that a template meant for the environment. Values cannot contain it: no system allows a NUL in a word.
 */
const variableMark = '\0';

/**
 * Replaces each `{name}` by its value, once: values are not expanded again. A template that begins with `env:` is
 * marked for the environment; a value that does is an ordinary word.
 */
export function fill(template: readonly string[], values: Record<string, string>): string[] {
  return template.map((word) => {
    const filled = word.replaceAll(/\{(\w[\w-]*)\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? (values[name] ?? whole).replaceAll('\0', '') : whole,
    );
    return variableTemplate.test(word) ? variableMark + filled : filled;
  });
}

const variableTemplate = /^env:[A-Za-z_]\w*=/;
const variableWord = /^\0env:([A-Za-z_]\w*)=(.*)$/su;

/** Separates arguments from environment variables. */
export function splitWords(words: readonly string[]): { args: string[]; env: Record<string, string> } {
  const args: string[] = [];
  const env: Record<string, string> = {};
  for (const word of words) {
    const [, name, value] = variableWord.exec(word) ?? [];
    if (name === undefined || value === undefined) args.push(word);
    else env[name] = value;
  }
  return { args, env };
}
