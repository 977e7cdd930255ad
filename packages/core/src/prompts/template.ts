/** One block of a prompt, between `<tag>` and `</tag>`. */
export type TemplatePart = { tag: string; text: string };

const heading = /^# ([a-z][a-z_]*)$/;
const fence = /^\s*(?:```|~~~)/;

/**
 * Parses a prompt template: markdown in which each first-level heading is a tag, followed by its text. A heading
 * without text stands for a shared block of that name, or for a slot. Templates are ours, so a malformed one is a
 * programming error.
 */
export function parseTemplate(name: string, markdown: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let fenced = false;
  for (const line of markdown.split('\n')) {
    if (fence.test(line)) fenced = !fenced;
    const tag = fenced ? undefined : heading.exec(line)?.[1];
    if (tag !== undefined) {
      if (parts.some((part) => part.tag === tag)) throw new Error(`the prompt ${name} has ${tag} twice`);
      parts.push({ tag, text: '' });
      continue;
    }
    if (!fenced && line.startsWith('# ')) throw new Error(`the prompt ${name} has a heading that is no tag: ${line}`);
    const last = parts.at(-1);
    if (last !== undefined) last.text += `${line}\n`;
    else if (line.trim() !== '') throw new Error(`the prompt ${name} has a text before its first tag`);
  }
  return parts.map(({ tag, text }) => ({ tag, text: text.trim() }));
}
