import { addLongComplete } from './complete.ts';
import { addLongMail } from './mail.ts';
import type { CommandTable } from './tools.ts';

/** Commands under long names that other systems use, all below `pawl agent`. */
export const longForms: CommandTable = {
  agent: (tools) => {
    const group = tools.program
      .command('agent')
      .description('long forms of reporting commands')
      .addHelpText('after', '\nExample:\n  pawl agent complete');
    addLongComplete(tools, group);
    addLongMail(tools, group);
  },
};
