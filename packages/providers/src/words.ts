/** Words with each `{name}` replaced by its value, in one go: what a value says is not looked at again. */
export function fill(template: readonly string[], values: Record<string, string>): string[] {
  return template.map((word) =>
    word.replaceAll(/\{(\w[\w-]*)\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
    ),
  );
}

const variableWord = /^env:([A-Za-z_]\w*)=(.*)$/su;

/** Keeps apart what goes on the command line and what goes into the environment. */
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
