import type { CommandTable } from './tools.ts';
import { wholeNumber } from './tools.ts';

const load = () => import('../command/projects/models.ts');

export const modelCommands: CommandTable = {
  models: ({ program, addTo, act }) => {
    const group = program
      .command('models')
      .description('list, add, test and remove models of Pawl’s own agent')
      .addHelpText(
        'after',
        '\nExample:\n  pawl models\n  pawl models add sonnet anthropic/claude-sonnet-4-5 --default\n  pawl models add local llama3.2 --server ollama\n  pawl models test local',
      );
    addTo(group, 'ls', 'list models with context, price and server', 'pawl models ls --json', {
      isDefault: true,
    }).action((options) => act(options, async (context) => (await load()).listModels(context)));
    addTo(group, 'add', 'give a model a name', 'pawl models add local llama3.2 --server ollama --context 32000')
      .argument('<name>', 'name for --model')
      .argument('<model>', 'VENDOR/MODEL; vendors: anthropic, openai, openai-chat, google, compatible')
      .option('--account <name>', 'account of the provider pawl with its key')
      .option('--server <server>', 'ollama, llama.cpp, vllm, lmstudio, openrouter, or the address of a server')
      .option('--context <tokens>', 'size of its context', wholeNumber)
      .option('--price <in/out>', 'dollars for a million tokens in and out: 3/15; cached input apart: 3/15/0.3')
      .option('--default', 'use it when no model is named')
      .action((name, model, options) =>
        act(options, async (context) => (await load()).addModel(context, name, model, options)),
      );
    addTo(group, 'default', 'choose the model that is used when none is named', 'pawl models default sonnet')
      .argument('<model>', 'name, or VENDOR/MODEL')
      .action((model, options) => act(options, async (context) => (await load()).defaultModel(context, model)));
    addTo(group, 'test', 'ask a model for one word, and report time and fault', 'pawl models test local')
      .argument('<model>', 'name, or VENDOR/MODEL')
      .option('--account <name>', 'account to test it with')
      .action((model, options) => act(options, async (context) => (await load()).testModel(context, model, options)));
    addTo(group, 'rm', 'remove the name of a model', 'pawl models rm local')
      .argument('<name>', 'its name')
      .action((name, options) => act(options, async (context) => (await load()).removeModel(context, name)));
  },
};
