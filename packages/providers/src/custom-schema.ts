import * as z from 'zod';

/** Bounds of a custom provider. */
const words = { count: 200, characters: 8_192 } as const;

const word = z
  .string()
  .max(words.characters)
  .refine((text) => !text.includes('\0'), 'a word has no NUL');
const wordList = z.array(word).max(words.count);
const variable = z.string().regex(/^[A-Za-z_]\w{0,127}$/, 'a variable is letters, digits and _');
const variables = z.record(variable, word);
const milliseconds = z
  .number()
  .int()
  .min(1_000)
  .max(7 * 24 * 60 * 60_000);
/** The name of a process as the system shows it: a file name without its directory. */
const processName = word.refine((name) => name !== '' && !name.includes('/'), 'the name of a process has no "/"');
/** Files stay below their directory. */
const relativePath = word.refine(
  (path) => path !== '' && !path.startsWith('/') && !path.split('/').includes('..'),
  'a path is relative and has no ".."',
);

const accountSchema = z.strictObject({
  key: variable.nullable().optional(),
  token: variable.nullable().optional(),
  base_url: variable.nullable().optional(),
  server: z.url({ protocol: /^https?$/ }).optional(),
  directory: variable.nullable().optional(),
  own_directory: z.boolean().optional(),
  base_url_arguments: wordList.optional(),
  files: z.record(relativePath, word).optional(),
  conversations: z.array(relativePath).max(words.count).optional(),
  credentials: relativePath.nullable().optional(),
});

const mcpSchema = z.discriminatedUnion('format', [
  z.strictObject({
    format: z.enum(['claude', 'copilot']),
    arguments: wordList,
    variables: z.enum(['named', 'written']).optional(),
  }),
  z.strictObject({ format: z.literal('codex') }),
  z.strictObject({
    format: z.enum(['gemini', 'opencode']),
    variable,
    settings: z.record(z.string(), z.unknown()).optional(),
  }),
]);

/** One entry of `providers` in `config.yaml`: every field of a preset, in snake_case, and what it extends. */
export const entrySchema = z.strictObject({
  extends: z.string().max(64).optional(),
  description: z.string().max(200).optional(),
  command: z
    .tuple([word.refine((text) => text !== '', 'the program is missing')], word)
    .refine((list) => list.length <= words.count, 'a command has too many words')
    .optional(),
  program: word.optional(),
  process: z
    .strictObject({ names: z.array(processName).max(words.count).optional(), command_line: word.nullable().optional() })
    .optional(),
  env: variables.optional(),
  root_env: variables.optional(),
  version: wordList.nullable().optional(),
  install: z.string().max(500).nullable().optional(),
  variables: z
    .strictObject({
      settings: z.array(variable).max(words.count).optional(),
      secrets: z.array(variable).max(words.count).optional(),
      ignored: z.array(variable).max(words.count).optional(),
    })
    .optional(),
  account: accountSchema.nullable().optional(),
  prompt_mode: z.enum(['stream-json', 'stdin', 'argument']).optional(),
  echoes: z.boolean().optional(),
  prompt_arguments: wordList.optional(),
  system_prompt: wordList.nullable().optional(),
  choose_session: wordList.nullable().optional(),
  resume: wordList.nullable().optional(),
  resumes_unanswered: z.boolean().optional(),
  fork: wordList.nullable().optional(),
  fork_style: z.enum(['native', 'replay', 'none']).optional(),
  tools: z
    .strictObject({ allow: wordList, deny: wordList, names: z.record(word, word).optional() })
    .nullable()
    .optional(),
  access: z
    .strictObject({
      full: wordList.optional(),
      ask: wordList.nullable().optional(),
      read_only: wordList.nullable().optional(),
    })
    .optional(),
  hook: wordList.nullable().optional(),
  mcp: mcpSchema.nullable().optional(),
  model: wordList.nullable().optional(),
  options: z.record(z.string().regex(/^[a-z][\w-]{0,63}$/), wordList).optional(),
  output_format: z
    .enum([
      'claude-stream-json',
      'codex-exec',
      'gemini-stream-json',
      'opencode-json',
      'pi-json',
      'copilot-json',
      'cline-json',
      'continue-json',
      'text',
    ])
    .optional(),
  patterns: z
    .strictObject({
      limit: wordList.optional(),
      transient: wordList.optional(),
      auth: wordList.optional(),
      reset: wordList.optional(),
    })
    .optional(),
  silence: z
    .strictObject({
      notice_ms: milliseconds.optional(),
      hang_ms: milliseconds.optional(),
      means_limit: z.boolean().optional(),
    })
    .optional(),
  first_signal: z.enum(['SIGTERM', 'SIGINT']).optional(),
  repository_settings: z
    .strictObject({
      paths: z.array(relativePath).max(words.count).optional(),
      block: wordList.nullable().optional(),
      hides: z.array(relativePath).max(words.count).optional(),
    })
    .optional(),
  reports_cost: z.boolean().optional(),
});
export type ProviderEntry = z.infer<typeof entrySchema>;
