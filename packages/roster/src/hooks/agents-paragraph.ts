const begin = '<!-- pawl:begin -->';
const end = '<!-- pawl:end -->';

/** The paragraph for agents whose CLI has no hooks: how to find out about others. */
const paragraph = `${begin}
## Working beside other agents

Before anything else, run \`pawl session begin\`, unless a hook has already told you how this session begins. Its first line is the answer:

- \`fresh\` or \`recover\`: you are the primary. Start as usual.
- \`helper\` or \`restricted\`: another agent may be at work in this checkout. Follow the contract that it prints: no git, no edits over whole files.
- \`isolated\`: you have a worktree of your own; nothing below applies.

Read your mail with \`pawl mail\`. A helper writes to the primary with \`pawl send primary "…"\`. Finish with \`pawl session end\`.
${end}
`;

/** Adds the paragraph to an AGENTS.md, or updates it. */
export function withParagraph(text: string | null): string {
  const rest = text === null ? '' : withoutParagraph(text);
  if (rest.trim() === '') return paragraph;
  return `${rest.trimEnd()}\n\n${paragraph}`;
}

/** Removes the paragraph. A file without it is returned unchanged. */
export function withoutParagraph(text: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from === -1 || to === -1) return text;
  const before = text.slice(0, from).replace(/\n+$/, '\n');
  const after = text.slice(to + end.length).replace(/^\n+/, '');
  return after === '' ? before : `${before}${before === '' ? '' : '\n'}${after}`;
}
